// Stands up and bends the knees, three times.
#ifndef LEG_MOVER_H
#define LEG_MOVER_H

#include <Joints.h>
#include <OPENR/OObject.h>
#include <OPENR/OObserver.h>
#include <OPENR/OSubject.h>

#include <vector>

#include "def.h"

class LegMover : public OObject {
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
    std::vector<std::vector<double>> path_;
    size_t sent_ = 0;
};

#endif
