// Date and time of day; years count from 2000.
#ifndef NUTMEG_OPENR_OCALENDAR_TIME_H
#define NUTMEG_OPENR_OCALENDAR_TIME_H

#include <OPENR/OTime.h>

const int ocldtdowSUNDAY = 0;
const int ocldtdowMONDAY = 1;
const int ocldtdowTUESDAY = 2;
const int ocldtdowWEDNESDAY = 3;
const int ocldtdowTHURSDAY = 4;
const int ocldtdowFRIDAY = 5;
const int ocldtdowSATURDAY = 6;

class OCalendarTime {
public:
    int year_, month_, day_, hour_, min_, sec_, dow_;
    sbyte timeDif_;

    OCalendarTime() { SetTime(OTime(0, 0)); }
    OCalendarTime(time_t clock, sbyte timeDif) { SetTime(OTime(clock, timeDif)); }
    OCalendarTime(const OTime& time) { SetTime(time); }

    OStatus SetTime(time_t clock, sbyte timeDif) { return SetTime(OTime(clock, timeDif)); }
    OStatus SetTime(const OTime& time);
    OStatus GetTime(OTime* time) const;
    OStatus GetTime(time_t* clock, sbyte* timeDif) const;
    void Print() const;
    void Sprint(char* text) const;
    void RFC2822(char* text) const;
};

#endif
