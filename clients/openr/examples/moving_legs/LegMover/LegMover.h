// Stands up and bends the knees, three times.
#pragma once

#include <ExampleObject.h>
#include <Joints.h>

#include <vector>

class LegMover : public ExampleObject {
public:
    void Ready(const OReadyEvent& event);

private:
    void prepare() override;
    void begin() override;
    void send_next();

    Joints joints_;
    std::vector<std::vector<double>> path_;
    size_t sent_ = 0;
};
