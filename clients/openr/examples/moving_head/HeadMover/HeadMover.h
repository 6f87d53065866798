// Looks around: the head goes round an ellipse for ever.
#ifndef HEAD_MOVER_H
#define HEAD_MOVER_H

#include <Joints.h>
#include <OPENR/OObject.h>
#include <OPENR/OObserver.h>
#include <OPENR/OSubject.h>

#include <vector>

#include "def.h"

class HeadMover : public OObject {
public:
    OSubject* subject[numOfSubject];
    OObserver* observer[numOfObserver];

    OStatus DoInit(const OSystemEvent& event) override;
    OStatus DoStart(const OSystemEvent& event) override;
    OStatus DoStop(const OSystemEvent& event) override;
    OStatus DoDestroy(const OSystemEvent& event) override;
    void Ready(const OReadyEvent& event);

private:
    void send_next();

    Joints joints_;
    std::vector<double> last_;
    int step_ = 0;
};

#endif
