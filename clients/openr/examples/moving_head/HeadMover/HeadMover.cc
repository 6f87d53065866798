#include "HeadMover.h"

#include <cmath>

namespace {
const int STEPS = 24;  // vectors of 128 ms in a round
const double SIDE = 0.9;
const double UP = 0.2;
const double TILT = -0.35;
}  // namespace

void HeadMover::prepare() {
    const auto& all = aibo_locators();
    joints_.open(std::vector<std::string>(all.begin() + LEG_JOINTS, all.end()), 2);
    OPENR::SetMotorPower(opowerON);
}

void HeadMover::begin() {
    joints_.use_standard_gains();
    last_ = joints_.angles();
    if (subject[sbjMove]->IsReady()) send_next();
}

void HeadMover::Ready(const OReadyEvent& event) {
    if (event.IsAssert() && !last_.empty()) send_next();
}

void HeadMover::send_next() {
    const double phase = 2 * M_PI * step_ / STEPS;
    const std::vector<double> next = {TILT + UP * (1 - std::cos(phase)) / 2, SIDE * std::sin(phase), 0.0};
    RCRegion* region = joints_.move(last_, next);
    if (region == nullptr) return;
    if (++step_ % STEPS == 0) OSYSPRINT(("HeadMover: round %d\n", step_ / STEPS));
    last_ = next;
    subject[sbjMove]->SetData(region);
    subject[sbjMove]->NotifyObservers();
}
