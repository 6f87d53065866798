// Prints every sensor of the robot about once a second.
#pragma once

#include <ExampleObject.h>

class SensorPrinter : public ExampleObject {
public:
    void Notify(const ONotifyEvent& event);

private:
    int vectors_ = 0;
};
