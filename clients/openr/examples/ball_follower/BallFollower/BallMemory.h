// Where the ball is, by pictures that are some frames old, of a head that turns on a body that turns.
#pragma once

#include <BallSighting.h>

#include <cmath>
#include <deque>
#include <limits>

class BallMemory {
public:
    static constexpr longword VECTOR = 4;  // frames in a sensor vector

    double bearing = 0;                                         // from the body, positive to the left [rad]
    double pitch = 0;                                           // from the neck, positive up [rad]
    double distance = std::numeric_limits<double>::infinity();  // from the camera, along the ground [m]

    // Where the head looked in a frame.
    void note_head(longword frame, double pan, double head_pitch) {
        heads_.push_back({frame, pan, head_pitch, turned_});
        if (heads_.size() > MOST_HEADS) heads_.pop_front();
    }

    void note_picture(const BallSighting& sighting) {
        if (sighting.pixels > 0) pictures_.push_back(sighting);
        if (pictures_.size() > MOST_PICTURES) pictures_.pop_front();
    }

    // Takes pictures into account that are two vectors old: then every one of that time has come, and a run in
    // lock-step is always the same. Whether the ball was seen.
    bool consider(longword now) {
        bool seen = false;
        while (!pictures_.empty() && pictures_.front().frame + 2 * VECTOR <= now) {
            believe(pictures_.front(), now);
            pictures_.pop_front();
            seen = true;
        }
        return seen;
    }

    // The body has turned to the left by an angle [rad]; where the ball is changes with it.
    void turn(double angle) {
        turned_ += angle;
        bearing -= angle;
    }

    bool is_lost(longword now) const { return !ever_seen_ || now > seen_at_ + LOST; }

    void forget() {
        distance = std::numeric_limits<double>::infinity();
        bearing = std::copysign(M_PI, bearing);  // it must be behind, on the side where it went
    }

private:
    static constexpr double BELIEVE = 0.7;   // share of the difference by which a picture changes its mind
    static constexpr longword LOST = 125;    // frames without the ball until it is lost: a second
    static constexpr size_t MOST_HEADS = 256;
    static constexpr size_t MOST_PICTURES = 16;

    struct Head {
        longword frame;
        double pan;
        double pitch;
        double turned;  // how far the body had turned
    };

    void believe(const BallSighting& sighting, longword now) {
        const Head& head = head_at(sighting.frame);
        const double share = is_lost(now) ? 1.0 : BELIEVE;
        bearing += share * (head.pan + sighting.left + head.turned - turned_ - bearing);
        pitch += share * (head.pitch + sighting.above - pitch);
        distance = sighting.distance * std::cos(head.pitch + sighting.above);
        seen_at_ = now;
        ever_seen_ = true;
    }

    const Head& head_at(longword frame) const {
        for (auto head = heads_.rbegin(); head != heads_.rend(); ++head) {
            if (head->frame <= frame) return *head;
        }
        return heads_.front();
    }

    std::deque<Head> heads_;
    std::deque<BallSighting> pictures_;
    double turned_ = 0;
    longword seen_at_ = 0;
    bool ever_seen_ = false;
};
