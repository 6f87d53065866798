// Legs of both AIBOs: from the place of a paw to the angles of its three joints.
#pragma once

#include <algorithm>
#include <cmath>

// A place from the middle of the trunk: ahead, to the left, up [m].
struct Place {
    double ahead;
    double left;
    double up;
};

const int LEGS = 4;
inline bool is_hind(int leg) { return leg % 2 == 1; }
inline bool is_left(int leg) { return leg < 2; }

// Lengths in the robot's own plane of the leg, ahead and down [m]; a hind leg is a fore leg seen in a mirror, and a
// right one that of the left. Indices: fore, hind.
struct LegShape {
    double shoulder_ahead;
    double shoulder_aside;
    double thigh[2];     // from shoulder to knee: ahead, down
    double shank[2][2];  // from knee to the middle of the paw, of fore and hind legs
    double aside;        // of the paw from the shoulder's plane
    double paw;          // radius
};

inline const LegShape& leg_shape(bool ers7) {
    static const LegShape shape7 = {0.065,  0.0625, {0.009, 0.0695}, {{-0.00503, 0.06524}, {-0.013529, 0.06628}},
                                    0.0047, 0.0125};
    static const LegShape shape210 = {0.0595, 0.0592, {0.0128, 0.064}, {{-0.01544, 0.05398}, {-0.02458, 0.05933}},
                                      0.0005, 0.0125};
    return ers7 ? shape7 : shape210;
}

inline Place shoulder(const LegShape& shape, int leg) {
    return {is_hind(leg) ? -shape.shoulder_ahead : shape.shoulder_ahead,
            is_left(leg) ? shape.shoulder_aside : -shape.shoulder_aside, 0.0};
}

// Angles of J1 (swing), J2 (aside) and J3 (knee) that bring a paw to a place. The distance from the shoulder gives the
// knee, how far aside the paw is gives J2, and what is left J1.
inline void place_paw(const LegShape& shape, int leg, const Place& paw, double* joints) {
    const Place from = shoulder(shape, leg);
    const double ahead = (paw.ahead - from.ahead) * (is_hind(leg) ? -1 : 1);
    const double outward = (paw.left - from.left) * (is_left(leg) ? 1 : -1);
    const double down = from.up - paw.up;
    const double* shank = shape.shank[is_hind(leg)];
    const double thigh_length = std::hypot(shape.thigh[0], shape.thigh[1]);
    const double shank_length = std::hypot(shank[0], shank[1]);
    const double thigh_bow = std::atan2(shape.thigh[0], shape.thigh[1]);
    const double shank_bow = std::atan2(shank[0], shank[1]);

    const double squared = ahead * ahead + outward * outward + down * down - shape.aside * shape.aside;
    const double bent = (squared - thigh_length * thigh_length - shank_length * shank_length) /
                        (2 * thigh_length * shank_length);
    const double knee = std::acos(std::clamp(bent, -1.0, 1.0)) + thigh_bow - shank_bow;
    const double leg_ahead = shape.thigh[0] + shank_length * std::sin(shank_bow + knee);
    const double leg_down = shape.thigh[1] + shank_length * std::cos(shank_bow + knee);
    const double reach = std::hypot(shape.aside, leg_down);
    const double lifted =
        std::asin(std::clamp(outward / reach, -1.0, 1.0)) - std::atan2(shape.aside, leg_down);
    const double lifted_down = leg_down * std::cos(lifted) - shape.aside * std::sin(lifted);
    joints[0] = std::atan2(ahead, down) - std::atan2(leg_ahead, lifted_down);
    joints[1] = lifted;
    joints[2] = knee;
}
