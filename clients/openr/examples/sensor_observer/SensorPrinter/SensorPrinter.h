// Prints every sensor of the robot about once a second.
#ifndef SENSOR_PRINTER_H
#define SENSOR_PRINTER_H

#include <OPENR/OObject.h>
#include <OPENR/OObserver.h>
#include <OPENR/OSubject.h>

#include "def.h"

class SensorPrinter : public OObject {
public:
    OSubject* subject[numOfSubject];
    OObserver* observer[numOfObserver];

    OStatus DoInit(const OSystemEvent& event) override;
    OStatus DoStart(const OSystemEvent& event) override;
    OStatus DoStop(const OSystemEvent& event) override;
    OStatus DoDestroy(const OSystemEvent& event) override;
    void Notify(const ONotifyEvent& event);

private:
    int vectors_ = 0;
};

#endif
