// Keeps the head on the ball, turns the body to where the head looks, and walks until the ball is near.
#ifndef BALL_FOLLOWER_H
#define BALL_FOLLOWER_H

#include <BallSighting.h>
#include <Joints.h>
#include <OPENR/OObject.h>
#include <OPENR/OObserver.h>
#include <OPENR/OSubject.h>

#include <vector>

#include "Trot.h"
#include "def.h"

class BallFollower : public OObject {
public:
    OSubject* subject[numOfSubject];
    OObserver* observer[numOfObserver];

    OStatus DoInit(const OSystemEvent& event) override;
    OStatus DoStart(const OSystemEvent& event) override;
    OStatus DoStop(const OSystemEvent& event) override;
    OStatus DoDestroy(const OSystemEvent& event) override;
    void Ready(const OReadyEvent& event);
    void NotifyBall(const ONotifyEvent& event);

private:
    void send_next();
    void search();
    Stride stride() const;

    Joints joints_;
    Trot trot_;
    std::vector<double> last_;
    int vectors_ = 0;
    int unseen_ = 1000;  // pictures since the ball was seen
    int seen_pixels_ = 0;
    bool near_ = false;
    double pan_ = 0;
    double nod_ = 0.3;
};

#endif
