// Prints every sensor of the robot about once a second.
#ifndef SENSOR_PRINTER_H
#define SENSOR_PRINTER_H

#include <ExampleObject.h>

class SensorPrinter : public ExampleObject {
public:
    OStatus DoInit(const OSystemEvent& event) override;
    OStatus DoStart(const OSystemEvent& event) override;
    void Notify(const ONotifyEvent& event);

private:
    int vectors_ = 0;
};

#endif
