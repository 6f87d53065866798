// Clock time, in seconds since the beginning of the year 2000, with a time difference in hours.
#ifndef NUTMEG_OPENR_OTIME_H
#define NUTMEG_OPENR_OTIME_H

#include <OPENR/OStatus.h>
#include <Types.h>
#include <time.h>

const sbyte otimeTIME_DIF_UNDEF = 0x7F;
const int otimeSTART_YEAR = 2000;
const time_t otimeSTART = 946684800;  // that moment in the host's time

class OTime {
public:
    OTime() : clock_(0), timeDif_(otimeTIME_DIF_UNDEF) {}
    OTime(time_t clock, sbyte timeDif) : clock_(clock), timeDif_(timeDif) {}

    bool operator<(const OTime& other) const { return clock_ < other.clock_; }
    bool operator<=(const OTime& other) const { return clock_ <= other.clock_; }
    bool operator>(const OTime& other) const { return clock_ > other.clock_; }
    bool operator>=(const OTime& other) const { return clock_ >= other.clock_; }
    bool operator==(const OTime& other) const { return clock_ == other.clock_; }

    OStatus Set(time_t clock, sbyte timeDif) {
        clock_ = clock;
        timeDif_ = timeDif;
        return oSUCCESS;
    }
    OStatus SetClock(time_t clock) { return Set(clock, timeDif_); }
    OStatus SetLocalTime(time_t local) { return Set(local - Shift(), timeDif_); }
    OStatus SetTimeDif(sbyte timeDif) { return Set(clock_, timeDif); }
    time_t GetClock() const { return clock_; }
    time_t GetLocalTime() const { return clock_ + Shift(); }
    sbyte GetTimeDif() const { return timeDif_; }

private:
    time_t Shift() const { return timeDif_ == otimeTIME_DIF_UNDEF ? 0 : timeDif_ * 3600; }

    time_t clock_;
    sbyte timeDif_;
};

#endif
