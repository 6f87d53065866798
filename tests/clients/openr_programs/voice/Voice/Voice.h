#ifndef VOICE_H
#define VOICE_H
#include <OPENR/OObject.h>
#include <OPENR/OObserver.h>
#include <OPENR/OSubject.h>
#include "def.h"

class Voice : public OObject {
public:
    OSubject* subject[numOfSubject];
    OObserver* observer[numOfObserver];
    virtual OStatus DoInit(const OSystemEvent& event);
    virtual OStatus DoStart(const OSystemEvent& event);
    void Ready(const OReadyEvent& event);
    void Notify(const ONotifyEvent& event);

private:
    void GoOn();
    void Say();
    RCRegion* region;
    int said;
    int heard;
    bool started;
    bool ready;
    bool over;
};
#endif
