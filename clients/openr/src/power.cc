#include "power.h"

#include <MCOOP.h>
#include <OPENR/OPENRMessages.h>

#include <algorithm>
#include <cstdio>

OPowerStatus::OPowerStatus() { Set(0, 0, 0, 0, 0, 0); }

OPowerStatus::OPowerStatus(longword robot, word battery, word remaining, word temperatureNow, word full,
                           word voltageNow, word currentNow, sbyte difference, byte volumeNow) {
    Set(robot, battery, remaining, temperatureNow, difference, volumeNow);
    fullyChargedCapacity = full;
    voltage = voltageNow;
    current = static_cast<sword>(currentNow);
}

void OPowerStatus::Set(longword robot, word battery, word remaining, word temperatureNow, sbyte difference,
                       byte volumeNow) {
    robotStatus = robot;
    batteryStatus = battery;
    remainingCapacity = remaining;
    temperature = temperatureNow;
    fullyChargedCapacity = 0;
    voltage = 0;
    current = 0;
    timeDif = difference;
    volume = volumeNow;
}

void OPowerStatus::Print() const {
    std::printf("robot 0x%08x, battery 0x%04x, %u %% left, %.1f degrees Celsius, %u mV, %d mA\n", robotStatus,
                batteryStatus, remainingCapacity, temperature / 10.0 - 273.15, voltage, current);
}

namespace nutmeg::openr {

namespace {

const word CHARGE = 95;           // per cent
const word TEMPERATURE = 3031;    // tenths of a kelvin: 30 degrees Celsius
const word CAPACITY = 2200;       // mAh
const word VOLTAGE = 7400;        // mV
const sword CURRENT = -500;       // mA; below zero it discharges

// Whether a number has changed in a way that a watcher wants to hear of: in any, or to the value that it named.
template <class T>
bool concerns(T wanted, T every, T before, T now) {
    return before != now && (wanted == every || wanted == now);
}

bool concerns(const OPowerStatus& wanted, const OPowerStatus& before, const OPowerStatus& now) {
    return ((before.robotStatus ^ now.robotStatus) & wanted.robotStatus) != 0 ||
           concerns(wanted.timeDif, opsoTIME_DIF_NOTIFY_EVERY_CHANGE, before.timeDif, now.timeDif) ||
           concerns(wanted.volume, opsoVOLUME_NOTIFY_EVERY_CHANGE, before.volume, now.volume);
}

}  // namespace

// A simulated battery neither empties nor warms up.
PowerState::PowerState()
    : status_(orsbBATTERY_CONNECTED | orsbOPEN_R_POWER_GOOD, obsbINITIALIZED | obsbDISCHARGING, CHARGE, TEMPERATURE,
              CAPACITY, VOLTAGE, static_cast<word>(CURRENT), 0, ovolumeSW2) {}

OPowerStatus PowerState::status() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return status_;
}

void PowerState::change(const OPowerStatus& now) {
    const OPowerStatus before = status_;
    status_ = now;
    OPowerStatusMessage message(status_);
    for (const Watcher& watcher : watchers_) {
        if (!concerns(watcher.when, before, now)) continue;
        Send(watcher.entry.oid, watcher.entry.selector, &message, sizeof(message));
    }
}

void PowerState::set_bits(longword bits, bool on) {
    std::lock_guard<std::mutex> lock(mutex_);
    OPowerStatus now = status_;
    now.robotStatus = on ? now.robotStatus | bits : now.robotStatus & ~bits;
    change(now);
}

void PowerState::set_volume(byte level) {
    std::lock_guard<std::mutex> lock(mutex_);
    OPowerStatus now = status_;
    now.volume = level;
    change(now);
}

void PowerState::set_time_difference(sbyte hours) {
    std::lock_guard<std::mutex> lock(mutex_);
    OPowerStatus now = status_;
    now.timeDif = hours;
    change(now);
}

void PowerState::observe(const OPowerStatus& when, const OServiceEntry& entry) {
    std::lock_guard<std::mutex> lock(mutex_);
    watchers_.push_back({when, entry});
}

bool PowerState::unobserve(const OServiceEntry& entry) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto first = std::remove_if(watchers_.begin(), watchers_.end(),
                                      [&entry](const Watcher& watcher) { return watcher.entry == entry; });
    const bool found = first != watchers_.end();
    watchers_.erase(first, watchers_.end());
    return found;
}

PowerState& power_state() {
    static PowerState the_state;
    return the_state;
}

}  // namespace nutmeg::openr
