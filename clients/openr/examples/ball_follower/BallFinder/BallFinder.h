// Finds the orange ball in the camera's picture, with the colour detection of the robot.
#ifndef BALL_FINDER_H
#define BALL_FINDER_H

#include <BallSighting.h>
#include <ExampleObject.h>
#include <OPENR/OFbkImage.h>

class BallFinder : public ExampleObject {
public:
    OStatus DoInit(const OSystemEvent& event) override;
    OStatus DoStart(const OSystemEvent& event) override;
    void NotifyImage(const ONotifyEvent& event);

private:
    void look_for_orange();
    BallSighting find(const OFbkImage& detected) const;

    double view_width_ = 0;  // how wide the camera sees [rad]
};

#endif
