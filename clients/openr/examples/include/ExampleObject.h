// What the objects of these examples have in common: subjects and observers (def.h comes from stubgen), and how they
// begin and end. An example says what it does in prepare and begin.
#pragma once

#include <OPENR/OObject.h>
#include <OPENR/OObserver.h>
#include <OPENR/OSubject.h>
#include <OPENR/core_macro.h>

#include "def.h"

class ExampleObject : public OObject {
public:
    OSubject* subject[numOfSubject];
    OObserver* observer[numOfObserver];

    OStatus DoInit(const OSystemEvent&) override {
        NEW_ALL_SUBJECT_AND_OBSERVER;
        REGISTER_ALL_ENTRY;
        SET_ALL_READY_AND_NOTIFY_ENTRY;
        prepare();
        return oSUCCESS;
    }

    OStatus DoStart(const OSystemEvent&) override {
        begin();
        ENABLE_ALL_SUBJECT;
        ASSERT_READY_TO_ALL_OBSERVER;
        return oSUCCESS;
    }

    OStatus DoStop(const OSystemEvent&) override {
        for (OSubject* each : subject) each->ClearBuffer();
        for (OObserver* each : observer) each->DeassertReady();
        return oSUCCESS;
    }

    // Subjects and observers live as long as the process: messages to them may still be under way.
    OStatus DoDestroy(const OSystemEvent&) override { return oSUCCESS; }

private:
    virtual void prepare() {}  // opens primitives, before any object is connected
    virtual void begin() {}    // all objects are connected
};
