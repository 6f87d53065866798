#include "BallFollower.h"

#include <OPENR/core_macro.h>

#include <algorithm>
#include <cmath>

namespace {

const int FRAMES = 8;         // of 8 ms in a vector
const int RISING = 24;        // vectors to get into the crouch
const double CYCLE = 0.1;     // share of a step cycle in a vector: 0.64 s a cycle
const double STRIDE = 0.024;  // half a step [m]
const double TURN = 0.018;    // difference of the sides, halved [m]
const double FOLLOW = 0.35;   // how much of the error the head corrects with each picture
const double MOST_PAN = 1.4;  // [rad]
const double LEAST_NOD = -0.25;
const double MOST_NOD = 0.75;
const int LOST = 30;           // pictures without the ball until the search begins
const int NEAR_PIXELS = 2200;  // the ball fills that much of the picture when it is at the paws

}  // namespace

OStatus BallFollower::DoInit(const OSystemEvent&) {
    NEW_ALL_SUBJECT_AND_OBSERVER;
    REGISTER_ALL_ENTRY;
    SET_ALL_READY_AND_NOTIFY_ENTRY;
    joints_.open(aibo_locators(), 3);
    OPENR::SetMotorPower(opowerON);
    return oSUCCESS;
}

OStatus BallFollower::DoStart(const OSystemEvent&) {
    joints_.use_standard_gains();
    last_ = joints_.angles();
    ENABLE_ALL_SUBJECT;
    ASSERT_READY_TO_ALL_OBSERVER;
    if (subject[sbjMove]->IsReady()) send_next();
    return oSUCCESS;
}

OStatus BallFollower::DoStop(const OSystemEvent&) {
    DISABLE_ALL_SUBJECT;
    DEASSERT_READY_TO_ALL_OBSERVER;
    return oSUCCESS;
}

OStatus BallFollower::DoDestroy(const OSystemEvent&) {
    DELETE_ALL_SUBJECT_AND_OBSERVER;
    return oSUCCESS;
}

void BallFollower::Ready(const OReadyEvent& event) {
    if (event.IsAssert() && !last_.empty()) send_next();
}

void BallFollower::NotifyBall(const ONotifyEvent& event) {
    const auto* sighting = static_cast<const BallSighting*>(event.Data(0));
    ++unseen_;
    if (sighting->pixels > 0) {
        if (unseen_ > LOST) OSYSPRINT(("BallFollower: I see the ball\n"));
        unseen_ = 0;
        seen_pixels_ = sighting->pixels;
        pan_ = std::clamp(pan_ + FOLLOW * sighting->left, -MOST_PAN, MOST_PAN);
        nod_ = std::clamp(nod_ + FOLLOW * sighting->above, LEAST_NOD, MOST_NOD);
    }
    const bool near = unseen_ == 0 && seen_pixels_ > NEAR_PIXELS;
    if (near && !near_) OSYSPRINT(("BallFollower: at the ball\n"));
    near_ = near;
    observer[event.ObsIndex()]->AssertReady();
}

// Looks from side to side, first near and then far, while the body turns.
void BallFollower::search() {
    const double t = vectors_ * FRAMES * 0.008;
    pan_ = 1.0 * std::sin(2 * M_PI * t / 2.5);
    nod_ = 0.15 + 0.25 * std::sin(2 * M_PI * t / 10);
}

Stride BallFollower::stride() const {
    if (vectors_ < RISING || near_) return {0, 0};
    if (unseen_ > LOST) return {0, TURN};
    const double turn = std::clamp(pan_ * 0.04, -TURN, TURN);
    return {std::fabs(pan_) > 0.7 ? 0 : STRIDE, turn};
}

void BallFollower::send_next() {
    if (unseen_ > LOST) search();
    const Stride now = stride();
    const bool stands = now.forward == 0 && now.left == 0;
    std::vector<double> next = stands ? crouch() : trot_.advance(CYCLE, now);
    next[NECK_PAN] = pan_;
    next[NECK_NOD] = nod_;
    if (vectors_ < RISING) {
        for (size_t j = 0; j < next.size(); ++j) next[j] = last_[j] + (next[j] - last_[j]) / (RISING - vectors_);
    }
    RCRegion* region = joints_.move(last_, next, FRAMES);
    if (region == nullptr) return;
    last_ = next;
    ++vectors_;
    subject[sbjMove]->SetData(region);
    subject[sbjMove]->NotifyObservers();
}
