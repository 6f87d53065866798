#ifndef PROBE_H
#define PROBE_H
#include <OPENR/OObject.h>
#include <OPENR/OObserver.h>
#include <OPENR/OSubject.h>
#include "def.h"

class Probe : public OObject {
public:
    OSubject* subject[numOfSubject];
    OObserver* observer[numOfObserver];
    virtual OStatus DoInit(const OSystemEvent& event);
    virtual OStatus DoStart(const OSystemEvent& event);
    void Ready(const OReadyEvent& event);
    void NotifySensor(const ONotifyEvent& event);
    void NotifyImage(const ONotifyEvent& event);

private:
    void Send();
    OPrimitiveID pan;
    RCRegion* region[2];
    int sent;
    bool started;
};
#endif
