#ifndef LISTENER_H
#define LISTENER_H
#include <OPENR/OObject.h>
#include <OPENR/OObserver.h>
#include <OPENR/OSubject.h>
#include "def.h"

class Listener : public OObject {
public:
    OSubject* subject[numOfSubject];
    OObserver* observer[numOfObserver];
    virtual OStatus DoInit(const OSystemEvent& event);
    virtual OStatus DoStart(const OSystemEvent& event);
    virtual OStatus DoStop(const OSystemEvent& event);
    void Notify(const ONotifyEvent& event);

private:
    RCRegion* kept;
};
#endif
