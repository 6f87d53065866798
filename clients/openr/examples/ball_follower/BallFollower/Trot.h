// A trot: two diagonal paws swing while the other two push the body on. Angles of all twelve leg joints [rad].
#ifndef TROT_H
#define TROT_H

#include <Joints.h>

#include <algorithm>
#include <cmath>
#include <vector>

struct Stride {
    double forward;  // half the length of a step [m]
    double left;     // more of it on the right side and less on the left: turns to the left [m]
};

class Trot {
public:
    // Goes on by this share of a step cycle and answers the pose.
    std::vector<double> advance(double share, const Stride& stride) {
        phase_ = std::fmod(phase_ + share, 1.0);
        std::vector<double> pose = crouch();
        for (int leg = 0; leg < 4; ++leg) {
            const bool right = leg >= 2;
            const bool first_pair = leg == 0 || leg == 3;  // left front with right rear
            const double reach = stride.forward + (right ? stride.left : -stride.left);
            move_leg(&pose[3 * static_cast<size_t>(leg)], leg % 2 == 1,
                     std::fmod(phase_ + (first_pair ? 0.0 : 0.5), 1.0), reach);
        }
        return pose;
    }

private:
    // The ERS-7's legs: vectors from shoulder to knee and from knee to paw at angles of 0, as length [m] and angle
    // from straight down [rad]. Rear legs are front legs seen in a mirror.
    static constexpr double THIGH = 0.07008;
    static constexpr double THIGH_ANGLE = 0.1288;
    static constexpr double SHANK[2] = {0.0654, 0.0677};
    static constexpr double SHANK_ANGLE[2] = {-0.0765, -0.2009};
    static constexpr double HEIGHT = 0.093;            // of the shoulders over the paws [m]
    static constexpr double AHEAD[2] = {0.03, 0.017};  // paws outside the shoulders [m]
    static constexpr double LIFT = 0.022;              // [m]

    static void move_leg(double* joints, bool rear, double phase, double reach) {
        const bool pushes = phase < 0.5;
        const double along = pushes ? 1 - 4 * phase : -std::cos(2 * M_PI * (phase - 0.5));
        const double lift = pushes ? 0 : LIFT * std::sin(2 * M_PI * (phase - 0.5));
        place_paw(joints, rear, AHEAD[rear] + (rear ? -reach : reach) * along, HEIGHT - lift);
    }

    // Inverse kinematics of the two bones in the leg's plane.
    static void place_paw(double* joints, bool rear, double outward, double down) {
        const double shank = SHANK[rear];
        const double distance = outward * outward + down * down;
        const double fold =
            std::acos(std::clamp((distance - THIGH * THIGH - shank * shank) / (2 * THIGH * shank), -1.0, 1.0));
        const double thigh =
            std::atan2(outward, down) - std::atan2(shank * std::sin(fold), THIGH + shank * std::cos(fold));
        joints[0] = thigh - THIGH_ANGLE;
        joints[2] = fold + THIGH_ANGLE - SHANK_ANGLE[rear];
    }

    double phase_ = 0;
};

#endif
