// Keeps the head on the ball, turns the body to where the head looks, and walks until the ball is near.
#pragma once

#include <BallSighting.h>
#include <ExampleObject.h>
#include <Joints.h>

#include <memory>
#include <vector>

#include "BallMemory.h"
#include "Trot.h"

class BallFollower : public ExampleObject {
public:
    void NotifyBall(const ONotifyEvent& event);
    void NotifySensors(const ONotifyEvent& event);

private:
    void prepare() override;
    void begin() override;
    void note_heads(OSensorFrameVectorData& sensors);
    void tell_what_changed();
    void send_next();
    Pace wanted() const;
    void put_neck(std::vector<double>& pose) const;

    bool ers7_ = true;
    Joints joints_;
    std::unique_ptr<Trot> trot_;
    BallMemory ball_;
    std::vector<double> last_;  // the pose that was sent last [rad]
    longword frame_ = 0;        // the newest of the sensors
    int vectors_ = 0;           // sent so far
    bool searching_ = true;
    bool near_ = false;
};
