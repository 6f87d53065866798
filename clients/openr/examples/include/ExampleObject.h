// What the objects of these examples have in common: subjects and observers (def.h comes from stubgen), and how they end.
#ifndef EXAMPLE_OBJECT_H
#define EXAMPLE_OBJECT_H

#include <OPENR/OObject.h>
#include <OPENR/OObserver.h>
#include <OPENR/OSubject.h>

#include "def.h"

class ExampleObject : public OObject {
public:
    OSubject* subject[numOfSubject];
    OObserver* observer[numOfObserver];

    OStatus DoStop(const OSystemEvent&) override {
        for (OSubject* each : subject) each->ClearBuffer();
        for (OObserver* each : observer) each->DeassertReady();
        return oSUCCESS;
    }

    // Subjects and observers live as long as the process: messages to them may still be under way.
    OStatus DoDestroy(const OSystemEvent&) override { return oSUCCESS; }
};

#endif
