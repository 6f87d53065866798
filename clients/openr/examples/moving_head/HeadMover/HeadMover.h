// Looks around: the head goes round an ellipse for ever.
#pragma once

#include <ExampleObject.h>
#include <Joints.h>

#include <vector>

class HeadMover : public ExampleObject {
public:
    void Ready(const OReadyEvent& event);

private:
    void prepare() override;
    void begin() override;
    void send_next();

    Joints joints_;
    std::vector<double> last_;
    int step_ = 0;
};
