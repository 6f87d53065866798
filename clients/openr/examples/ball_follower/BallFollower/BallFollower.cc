#include "BallFollower.h"

#include <algorithm>
#include <cmath>

namespace {

const int FRAMES = 8;           // of 8 ms in a vector
const int RISING = 13;          // vectors to get up
const double SEARCH = 0.8;      // how fast it turns while it searches [rad/s]
const double ASIDE = 0.7;       // how far it looks ahead of that turn [rad]
const double LOOK = -0.25;      // and how far down [rad]
const double TURN_GAIN = 2.0;   // turn rate for each radian of bearing [1/s]
const double STRAIGHT = 0.6;    // bearing up to which it walks ahead while it turns [rad]
const double NEAR = 0.10;       // from the camera to the ball along the ground: there [m]
const double MOST_PAN = 1.5;    // limits of the neck [rad]
const double NOD_LOW = -0.26;   // ERS-7, the upper joint
const double NOD_HIGH = 0.78;
const double TILT_LOW = -1.3;   // the lower one
const double TILT_HIGH[2] = {0.75, 0.0};  // of the ERS-210 and of the ERS-7

}  // namespace

void BallFollower::prepare() {
    ers7_ = is_ers7();
    trot_ = std::make_unique<Trot>(leg_shape(ers7_));
    joints_.open(aibo_locators(), 3);
    OPENR::SetMotorPower(opowerON);
}

void BallFollower::begin() {
    joints_.use_standard_gains();
    last_ = joints_.angles();
}

void BallFollower::NotifyBall(const ONotifyEvent& event) {
    ball_.note_picture(*static_cast<const BallSighting*>(event.Data(0)));
    observer[event.ObsIndex()]->AssertReady();
}

// Sensors come every 32 ms; whenever the robot is ready for more commands, they decide what those are.
void BallFollower::NotifySensors(const ONotifyEvent& event) {
    note_heads(*reinterpret_cast<OSensorFrameVectorData*>(event.RCData(0)->Base()));
    ball_.consider(frame_);
    tell_what_changed();
    if (subject[sbjMove]->IsReady()) send_next();
    observer[event.ObsIndex()]->AssertReady();
}

void BallFollower::note_heads(OSensorFrameVectorData& sensors) {
    const OSensorFrameData* found[3] = {nullptr, nullptr, nullptr};
    for (int i = 0; i < static_cast<int>(sensors.vectorInfo.numData); ++i) {
        for (int joint = NECK_TILT; joint <= NECK_NOD; ++joint) {
            if (sensors.GetInfo(i)->primitiveID == joints_.id(joint)) found[joint - NECK_TILT] = sensors.GetData(i);
        }
    }
    if (found[0] == nullptr || found[1] == nullptr || found[2] == nullptr) return;
    const OSensorFrameInfo& info = *sensors.GetInfo(0);
    for (longword frame = 0; frame < info.numFrames; ++frame) {
        const auto angle = [&](int joint) { return found[joint - NECK_TILT]->frame[frame].value / 1e6; };
        // The third joint of an ERS-210's neck rolls the head, which makes no difference to where it looks.
        ball_.note_head(info.frameNumber + frame, angle(NECK_PAN), angle(NECK_TILT) + (ers7_ ? angle(NECK_NOD) : 0));
    }
    frame_ = info.frameNumber + info.numFrames - 1;
}

void BallFollower::tell_what_changed() {
    const bool searching = ball_.is_lost(frame_);
    if (!searching && searching_) OSYSPRINT(("BallFollower: I see the ball\n"));
    searching_ = searching;
    if (searching_) ball_.forget();
    const bool near = ball_.distance < NEAR;
    if (near && !near_) OSYSPRINT(("BallFollower: at the ball\n"));
    near_ = near;
}

Pace BallFollower::wanted() const {
    if (vectors_ < RISING || near_) return {0, 0};
    if (searching_) return {0, std::copysign(SEARCH, ball_.bearing)};
    const Pace fastest = Trot::fastest();
    const double turn = std::clamp(TURN_GAIN * ball_.bearing, -fastest.turn, fastest.turn);
    return {fastest.ahead * std::max(0.0, 1 - std::fabs(ball_.bearing) / STRAIGHT), turn};
}

// The head looks at the ball, or ahead of the turn while it searches. Of two joints that nod, the lower one only moves
// when the upper one cannot look there.
void BallFollower::put_neck(std::vector<double>& pose) const {
    const double pan = searching_ ? std::copysign(ASIDE, ball_.bearing) : ball_.bearing;
    const double pitch = searching_ ? LOOK : ball_.pitch;
    const double nod = ers7_ ? std::clamp(pitch, NOD_LOW, NOD_HIGH) : 0;
    pose[NECK_PAN] = std::clamp(pan, -MOST_PAN, MOST_PAN);
    pose[NECK_NOD] = nod;
    pose[NECK_TILT] = std::clamp(pitch - nod, TILT_LOW, TILT_HIGH[ers7_]);
}

void BallFollower::send_next() {
    std::vector<std::vector<double>> poses;
    const Pace pace = wanted();
    for (int frame = 0; frame < FRAMES; ++frame) {
        trot_->advance(pace);
        ball_.turn(trot_->pace().turn * Trot::FRAME);
        std::vector<double> pose = last_;
        trot_->put_legs(pose);
        put_neck(pose);
        poses.push_back(pose);
    }
    if (vectors_ < RISING) poses = even_way(last_, poses.back(), FRAMES, (RISING - vectors_) * FRAMES);
    RCRegion* region = joints_.follow(poses);
    if (region == nullptr) return;
    last_ = poses.back();
    ++vectors_;
    subject[sbjMove]->SetData(region);
    subject[sbjMove]->NotifyObservers();
}
