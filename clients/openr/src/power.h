// Battery, motor power and the pause button: what OPENR::GetPowerStatus tells and who wants to hear of changes.
#ifndef NUTMEG_OPENR_POWER_H
#define NUTMEG_OPENR_POWER_H

#include <OPENR/OPENR.h>
#include <OPENR/OPower.h>

#include <mutex>
#include <vector>

namespace nutmeg::openr {

class PowerState {
public:
    PowerState();
    OPowerStatus status() const;
    // Sets or clears bits of the robot's status, and tells those who watch them.
    void set_bits(longword bits, bool on);
    void set_volume(byte level);
    void set_time_difference(sbyte hours);
    void observe(const OPowerStatus& when, const OServiceEntry& entry);
    bool unobserve(const OServiceEntry& entry);

private:
    struct Watcher {
        OPowerStatus when;
        OServiceEntry entry;
    };
    // Takes over a new status and tells those whom the difference concerns.
    void change(const OPowerStatus& now);

    mutable std::mutex mutex_;
    OPowerStatus status_;
    std::vector<Watcher> watchers_;
};
PowerState& power_state();

}  // namespace nutmeg::openr

#endif
