// OCalendarTime.
#include <OPENR/OCalendarTime.h>

#include <cstdio>
#include <cstring>

OStatus OCalendarTime::SetTime(const OTime& time) {
    const time_t local = time.GetLocalTime() + otimeSTART;
    tm parts;
    gmtime_r(&local, &parts);
    year_ = parts.tm_year + 1900 - otimeSTART_YEAR;
    month_ = parts.tm_mon + 1;
    day_ = parts.tm_mday;
    hour_ = parts.tm_hour;
    min_ = parts.tm_min;
    sec_ = parts.tm_sec;
    dow_ = parts.tm_wday;
    timeDif_ = time.GetTimeDif();
    return oSUCCESS;
}

OStatus OCalendarTime::GetTime(OTime* time) const {
    tm parts;
    std::memset(&parts, 0, sizeof(parts));
    parts.tm_year = year_ + otimeSTART_YEAR - 1900;
    parts.tm_mon = month_ - 1;
    parts.tm_mday = day_;
    parts.tm_hour = hour_;
    parts.tm_min = min_;
    parts.tm_sec = sec_;
    time->SetTimeDif(timeDif_);
    return time->SetLocalTime(timegm(&parts) - otimeSTART);
}

OStatus OCalendarTime::GetTime(time_t* clock, sbyte* timeDif) const {
    OTime time;
    const OStatus status = GetTime(&time);
    *clock = time.GetClock();
    *timeDif = time.GetTimeDif();
    return status;
}

void OCalendarTime::Sprint(char* text) const {
    std::sprintf(text, "%04d/%02d/%02d %02d:%02d:%02d", year_ + otimeSTART_YEAR, month_, day_, hour_, min_, sec_);
}

void OCalendarTime::Print() const {
    char text[64];
    Sprint(text);
    std::printf("%s\n", text);
}

void OCalendarTime::RFC2822(char* text) const {
    static const char* const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char* const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const int hours = timeDif_ == otimeTIME_DIF_UNDEF ? 0 : timeDif_;
    std::sprintf(text, "%s, %d %s %04d %02d:%02d:%02d %+03d00", days[dow_ % 7], day_, months[(month_ + 11) % 12],
                 year_ + otimeSTART_YEAR, hour_, min_, sec_, hours);
}
