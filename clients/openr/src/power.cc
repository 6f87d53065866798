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
    std::printf("robot 0x%08x, battery 0x%04x, %u %% left, %u degrees Celsius, %u mV, %d mA\n", robotStatus,
                batteryStatus, remainingCapacity, temperature, voltage, current);
}

namespace nutmeg::openr {

// A simulated battery neither empties nor warms up.
PowerState::PowerState()
    : status_(orsbBATTERY_CONNECTED | orsbOPEN_R_POWER_GOOD, obsbINITIALIZED | obsbDISCHARGING, 95, 30, 2200, 7400,
              static_cast<word>(-500), 0, 2) {}

OPowerStatus PowerState::status() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return status_;
}

void PowerState::set_bits(longword bits, bool on) {
    std::lock_guard<std::mutex> lock(mutex_);
    const longword before = status_.robotStatus;
    status_.robotStatus = on ? before | bits : before & ~bits;
    OPowerStatusMessage message(status_);
    for (const auto& [mask, entry] : watchers_) {
        if ((before ^ status_.robotStatus) & mask) Send(entry.oid, entry.selector, &message, sizeof(message));
    }
}

void PowerState::observe(const OPowerStatus& when, const OServiceEntry& entry) {
    std::lock_guard<std::mutex> lock(mutex_);
    watchers_.emplace_back(when.robotStatus, entry);
}

bool PowerState::unobserve(const OServiceEntry& entry) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto first = std::remove_if(watchers_.begin(), watchers_.end(),
                                      [&entry](const auto& watcher) { return watcher.second == entry; });
    const bool found = first != watchers_.end();
    watchers_.erase(first, watchers_.end());
    return found;
}

PowerState& power_state() {
    static PowerState the_state;
    return the_state;
}

}  // namespace nutmeg::openr
