// Finds the orange ball in the camera's picture, with the colour detection of the robot.
#pragma once

#include <BallSighting.h>
#include <ExampleObject.h>
#include <OPENR/OFbkImage.h>

class BallFinder : public ExampleObject {
public:
    void NotifyImage(const ONotifyEvent& event);

private:
    void prepare() override;
    void look_for_orange();
    BallSighting find(const OFbkImage& detected) const;

    double view_width_ = 0;  // how wide the camera sees [rad]
};
