#include "Speaker.h"
#include <MCOOP.h>
#include <OPENR/OPENRAPI.h>
#include <OPENR/OSyslog.h>
#include <OPENR/core_macro.h>

OStatus Speaker::DoInit(const OSystemEvent& event) {
    NEW_ALL_SUBJECT_AND_OBSERVER;
    REGISTER_ALL_ENTRY;
    SET_ALL_READY_AND_NOTIFY_ENTRY;
    sent = ticks = 0;
    for (int i = 0; i < 2; i++) region[i] = new RCRegion(sizeof(int));
    return oSUCCESS;
}

OStatus Speaker::DoStart(const OSystemEvent& event) {
    TimeEventInfoWithRelativeTime every(RelativeTime(0, 20), RelativeTime(0, 20));
    SetTimeEvent(&every, myOID_, Extra_Entry[entryTick], 0, 0, 0);
    return oSUCCESS;
}

OStatus Speaker::Control(const OControlEvent& event) {
    OSYSPRINT(("control %d %d\n", event.SbjIndex(), event.IsAddObserver()));
    return oSUCCESS;
}

void Speaker::Ready(const OReadyEvent& event) {
    if (event.IsDeassert()) OSYSPRINT(("deasserted\n"));
    if (event.IsDeassert() || sent == 5) return;
    RCRegion* free_one = 0;
    for (int i = 0; i < 2; i++) {
        if (region[i]->NumberOfReference() == 1) free_one = region[i];
    }
    if (free_one == 0) {
        OSYSPRINT(("no region is free\n"));
        return;
    }
    *(int*)free_one->Base() = ++sent;
    subject[sbjWords]->SetData(free_one);
    subject[sbjWords]->NotifyObservers();
}

void Speaker::Tick(void* message) {
    if (++ticks == 5) {
        OSYSPRINT(("five ticks, %d sent\n", sent));
        OBootCondition again(obcbPAUSE_SW);
        OPENR::Shutdown(again);
    }
}
