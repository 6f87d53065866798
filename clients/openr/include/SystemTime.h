// Time since the program's start, and intervals.
#ifndef NUTMEG_OPENR_SYSTEM_TIME_H
#define NUTMEG_OPENR_SYSTEM_TIME_H

#include <Types.h>

struct SystemTime {
    longword seconds;
    longword useconds;

    SystemTime() : seconds(0), useconds(0) {}
    SystemTime(longword s, longword us) : seconds(s), useconds(us) {}
    bool IsValid() const { return !(seconds == 0xffffffff && useconds == 0xffffffff); }
    void MakeInvalid() { seconds = useconds = 0xffffffff; }
};

inline int operator<(const SystemTime& a, const SystemTime& b) {
    return a.seconds != b.seconds ? a.seconds < b.seconds : a.useconds < b.useconds;
}

inline SystemTime operator+(const SystemTime& a, const SystemTime& b) {
    const longword us = a.useconds + b.useconds;
    return SystemTime(a.seconds + b.seconds + us / 1000000, us % 1000000);
}

inline SystemTime operator-(const SystemTime& a, const SystemTime& b) {
    const longword borrow = a.useconds < b.useconds ? 1 : 0;
    return SystemTime(a.seconds - b.seconds - borrow, a.useconds + borrow * 1000000 - b.useconds);
}

struct RelativeTime {
    longword sec;
    longword msec;

    RelativeTime() : sec(0), msec(0) {}
    RelativeTime(longword s) : sec(s), msec(0) {}
    RelativeTime(longword s, longword ms) : sec(s), msec(ms) {}
};

inline int operator==(const RelativeTime& a, const RelativeTime& b) { return a.sec == b.sec && a.msec == b.msec; }

struct TimeEventInfo {
    enum EventType { Periodic, NonPeriodic };
    enum EventAttr { ExceedStartImmediate = 0, ExceedStartError = 0x10000 };

    RelativeTime relativeTime;
    RelativeTime periodicTime;
};

struct TimeEventInfoWithRelativeTime : public TimeEventInfo {
    bool isRelativeTime;
    EventType eventType;
    longword eventAttr;

    TimeEventInfoWithRelativeTime(RelativeTime first, RelativeTime period = 0, longword attr = ExceedStartImmediate) {
        Set(first, period, attr);
    }
    TimeEventInfoWithRelativeTime(EventType type, RelativeTime first) { Set(type, first); }
    void Set(RelativeTime first, RelativeTime period = 0, longword attr = ExceedStartImmediate) {
        relativeTime = first;
        periodicTime = period;
        isRelativeTime = true;
        eventType = period == RelativeTime(0) ? NonPeriodic : Periodic;
        eventAttr = attr;
    }
    void Set(EventType type, RelativeTime first) { Set(first, type == Periodic ? first : RelativeTime(0)); }
};

class EventID {
public:
    EventID(longword v = 0) : value(v) {}
    bool IsValid() const { return value != 0; }
    void MakeInvalid() { value = 0; }
    bool operator==(const EventID& other) const { return value == other.value; }
    bool operator!=(const EventID& other) const { return value != other.value; }
    void SetValue(longword v) { value = v; }
    longword GetValue() const { return value; }

private:
    longword value;
};

#endif
