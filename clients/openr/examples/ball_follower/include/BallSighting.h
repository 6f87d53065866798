// What BallFinder tells BallFollower about each picture.
#pragma once

#include <Types.h>

struct BallSighting {
    longword frame;   // in which the picture was taken: frames of 8 ms, counted like those of the sensors
    int pixels;       // of the ball's colour; 0: not seen
    double left;      // angle from the middle of the picture, positive to the left [rad]
    double above;     // positive up [rad]
    double distance;  // from the camera to the ball, by its size [m]
};
