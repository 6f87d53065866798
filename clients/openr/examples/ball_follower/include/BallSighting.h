// What BallFinder tells BallFollower about each picture.
#ifndef BALL_SIGHTING_H
#define BALL_SIGHTING_H

struct BallSighting {
    int pixels;    // of the ball's colour; 0: not seen
    double left;   // angle from the middle of the picture, positive to the left [rad]
    double above;  // positive up [rad]
};

#endif
