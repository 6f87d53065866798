#ifndef SPEAKER_H
#define SPEAKER_H
#include <OPENR/OObject.h>
#include <OPENR/OObserver.h>
#include <OPENR/OSubject.h>
#include "def.h"

class Speaker : public OObject {
public:
    OSubject* subject[numOfSubject];
    OObserver* observer[numOfObserver];
    virtual OStatus DoInit(const OSystemEvent& event);
    virtual OStatus DoStart(const OSystemEvent& event);
    OStatus Control(const OControlEvent& event);
    void Ready(const OReadyEvent& event);
    void Tick(void* message);

private:
    RCRegion* region[2];
    int sent;
    int ticks;
};
#endif
