// Sends the head to one side in one step, with proportional gains from weak to strong, and measures how fast it
// follows.
#ifndef GAIN_STEP_H
#define GAIN_STEP_H

#include <ExampleObject.h>
#include <Joints.h>

class GainStep : public ExampleObject {
public:
    OStatus DoInit(const OSystemEvent& event) override;
    OStatus DoStart(const OSystemEvent& event) override;
    void Ready(const OReadyEvent& event);
    void Notify(const ONotifyEvent& event);

private:
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

#endif
