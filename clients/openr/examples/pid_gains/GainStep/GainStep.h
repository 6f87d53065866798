// Sends the head to one side in one step, with proportional gains from weak to strong, and measures how fast it
// follows.
#pragma once

#include <ExampleObject.h>
#include <Joints.h>

class GainStep : public ExampleObject {
public:
    void Ready(const OReadyEvent& event);
    void Notify(const ONotifyEvent& event);

private:
    void prepare() override;
    void begin() override;
    void begin_trial();
    void end_trial();

    Joints joints_;
    int trial_ = 0;
    int frame_ = -1;  // frames since the step; below 0 the head is on its way back
    int rise_ = -1;
    double from_ = 0;
    double most_ = 0;
    double last_ = 0;
};
