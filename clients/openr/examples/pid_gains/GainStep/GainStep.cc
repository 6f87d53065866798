#include "GainStep.h"

#include <algorithm>
#include <cmath>

namespace {
const double STEP = 0.5;             // [rad]
const int TRIAL = 125;               // frames of 8 ms that are measured
const double RISEN = 0.9;            // share of the step that counts as there
const word SHARES[] = {1, 2, 4, 8};  // eighths of the standard proportional gain
const int TRIALS = 4;
}  // namespace

void GainStep::prepare() {
    joints_.open({aibo_locators()[NECK_PAN]}, 2);
    OPENR::SetMotorPower(opowerON);
}

void GainStep::begin() {
    joints_.use_standard_gains();
    OSYSPRINT(
        ("GainStep: a step of %.2f rad of the head's pan\n   P  rise time [ms]  overshoot [%%]  left over [mrad]\n",
         STEP));
    begin_trial();
}

void GainStep::Ready(const OReadyEvent&) {}

void GainStep::begin_trial() {
    word p, i, d, ps, is, ds;
    OPENR::GetDefaultJointGain(joints_.id(0), &p, &i, &d, &ps, &is, &ds);
    p = static_cast<word>(std::max(1, p * SHARES[trial_] / 8));
    OPENR::SetJointGain(joints_.id(0), p, i, d, ps, is, ds);
    from_ = joints_.angles()[0];
    const double to = from_ > 0 ? from_ - STEP : from_ + STEP;
    RCRegion* region = joints_.move({to}, {to}, 16);
    if (region == nullptr) return;
    subject[sbjMove]->SetData(region);
    subject[sbjMove]->NotifyObservers();
    frame_ = 0;
    rise_ = -1;
    most_ = 0;
}

void GainStep::end_trial() {
    word p, i, d, ps, is, ds;
    OPENR::GetJointGain(joints_.id(0), &p, &i, &d, &ps, &is, &ds);
    OSYSPRINT(("%4u %15d %14.0f %17.1f\n", p, rise_ < 0 ? -1 : 8 * rise_, std::max(0.0, most_ - STEP) / STEP * 100,
               (STEP - last_) * 1000));
    frame_ = -1;
    if (++trial_ < TRIALS) begin_trial();
    if (trial_ == TRIALS) OSYSPRINT(("GainStep: done\n"));
}

void GainStep::Notify(const ONotifyEvent& event) {
    auto* vector = reinterpret_cast<OSensorFrameVectorData*>(event.RCData(0)->Base());
    for (longword k = 0; frame_ >= 0 && k < vector->vectorInfo.numData; ++k) {
        const OSensorFrameInfo* info = vector->GetInfo(static_cast<int>(k));
        if (info->primitiveID != joints_.id(0)) continue;
        for (longword f = 0; f < info->numFrames; ++f) {
            last_ = std::fabs(vector->GetData(static_cast<int>(k))->frame[f].value / 1e6 - from_);
            most_ = std::max(most_, last_);
            ++frame_;
            if (rise_ < 0 && last_ >= RISEN * STEP) rise_ = frame_;
        }
        if (frame_ >= TRIAL) end_trial();
        break;
    }
    observer[event.ObsIndex()]->AssertReady();
}
