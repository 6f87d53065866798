#include "LegMover.h"

#include <cmath>

namespace {
const int STEPS = 24;  // vectors of 128 ms for one bend
const int BENDS = 3;
const double DEPTH = 0.35;  // of the knees [rad]
}  // namespace

void LegMover::prepare() {
    const auto& all = aibo_locators();
    joints_.open(std::vector<std::string>(all.begin(), all.begin() + LEG_JOINTS), 2);
    OPENR::SetMotorPower(opowerON);
}

void LegMover::begin() {
    joints_.use_standard_gains();
    const std::vector<double> here = joints_.angles();
    const std::vector<double> low = crouch();
    path_.push_back(here);
    for (int step = 1; step <= STEPS; ++step) {
        std::vector<double> pose;
        for (int j = 0; j < LEG_JOINTS; ++j) pose.push_back(here[j] + (low[j] - here[j]) * step / STEPS);
        path_.push_back(pose);
    }
    for (int step = 1; step <= STEPS * BENDS; ++step) {
        const double bend = DEPTH * (1 - std::cos(2 * M_PI * step / STEPS)) / 2;
        std::vector<double> pose(low.begin(), low.begin() + LEG_JOINTS);
        for (int leg = 0; leg < 4; ++leg) {
            pose[3 * leg] += bend / 2;
            pose[3 * leg + 2] -= bend;
        }
        path_.push_back(pose);
    }
    if (subject[sbjMove]->IsReady()) send_next();
}

void LegMover::Ready(const OReadyEvent& event) {
    if (event.IsAssert() && !path_.empty()) send_next();
}

void LegMover::send_next() {
    if (sent_ + 1 == path_.size()) {
        OSYSPRINT(("LegMover: done, %d vectors\n", static_cast<int>(sent_)));
        ++sent_;
    }
    if (sent_ + 1 >= path_.size()) return;
    RCRegion* region = joints_.move(path_[sent_], path_[sent_ + 1]);
    if (region == nullptr) return;
    ++sent_;
    subject[sbjMove]->SetData(region);
    subject[sbjMove]->NotifyObservers();
}
