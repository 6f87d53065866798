// A trot: two diagonal paws swing while the other two push the body on, ahead and round.
#pragma once

#include <cmath>
#include <vector>

#include "Legs.h"

struct Pace {
    double ahead;  // [m/s]
    double turn;   // to the left [rad/s]
};

class Trot {
public:
    static constexpr double FRAME = 0.008; // [s]

    explicit Trot(const LegShape& shape) : shape_(shape) {}

    static Pace fastest() { return {STEP_AHEAD * FREQUENCY / DUTY, STEP_TURN * FREQUENCY / DUTY}; }
    // Of the steps that it makes now, if no paw slips.
    Pace pace() const { return {ahead_ * FREQUENCY / DUTY, turn_ * FREQUENCY / DUTY}; }

    // One frame towards a wanted velocity; told to stand, it puts its paws down and stands.
    void advance(const Pace& wanted) {
        const bool moves = wanted.ahead != 0 || wanted.turn != 0;
        const double share = 1 - std::exp(-FRAME / RESPONSE);
        ahead_ += share * (std::clamp(wanted.ahead * DUTY / FREQUENCY, 0.0, STEP_AHEAD) - ahead_);
        turn_ += share * (std::clamp(wanted.turn * DUTY / FREQUENCY, -STEP_TURN, STEP_TURN) - turn_);
        activity_ += share * ((moves ? 1.0 : 0.0) - activity_);
        phase_ = std::fmod(phase_ + FREQUENCY * FRAME, 1.0);
        if (!moves && activity_ < STILL) ahead_ = turn_ = activity_ = phase_ = 0;
    }

    // Sets the angles of the twelve leg joints [rad].
    void put_legs(std::vector<double>& pose) const {
        for (int leg = 0; leg < LEGS; ++leg) place_paw(shape_, leg, paw(leg), &pose[3 * static_cast<size_t>(leg)]);
    }

private:
    static constexpr double FREQUENCY = 1.6;              // cycles a second
    static constexpr double DUTY = 0.58;                  // share of a cycle in which a paw is on the ground
    static constexpr double STEP_AHEAD = 0.06;            // longest way while a paw is on the ground [m]
    static constexpr double STEP_TURN = 0.40;             // largest turn likewise [rad]
    static constexpr double LIFT[2] = {0.016, 0.021};     // of fore and hind paws [m]
    static constexpr double HEIGHT = 0.1;                 // of the shoulders above the ground [m]
    static constexpr double AHEAD[2] = {0.045, -0.025};   // paws ahead of their shoulders [m]
    static constexpr double OUTSIDE[2] = {0.030, 0.020};  // and outside [m]
    static constexpr double RESPONSE = 0.15;              // time in which steps follow what is wanted [s]
    static constexpr double STILL = 0.001;

    Place paw(int leg) const {
        const int hind = is_hind(leg);
        Place home = shoulder(shape_, leg);
        home.ahead += AHEAD[hind];
        home.left += is_left(leg) ? OUTSIDE[hind] : -OUTSIDE[hind];
        home.up += shape_.paw - HEIGHT;
        const bool first_pair = leg == 0 || leg == 3;  // left fore with right hind
        const double phase = std::fmod(phase_ + (first_pair ? 0.0 : 0.5), 1.0);
        const double swung = (phase - DUTY) / (1 - DUTY);
        // Along its way a paw is at 1 in front, at -1 behind: straight back on the ground, half an ellipse in the air.
        const double along = phase < DUTY ? 1 - 2 * phase / DUTY : -std::cos(M_PI * swung);
        const double lifted = phase < DUTY ? 0 : LIFT[hind] * std::sin(M_PI * swung) * activity_;
        return {home.ahead + along / 2 * (ahead_ - turn_ * home.left), home.left + along / 2 * turn_ * home.ahead,
                home.up + lifted};
    }

    const LegShape& shape_;
    double phase_ = 0;
    double ahead_ = 0;     // way of the body while a paw is on the ground [m]
    double turn_ = 0;      // [rad]
    double activity_ = 0;  // 0 stands, 1 trots
};
