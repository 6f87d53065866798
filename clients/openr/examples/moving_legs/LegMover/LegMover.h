// Stands up and bends the knees, three times.
#ifndef LEG_MOVER_H
#define LEG_MOVER_H

#include <ExampleObject.h>
#include <Joints.h>

#include <vector>

class LegMover : public ExampleObject {
public:
    OStatus DoInit(const OSystemEvent& event) override;
    OStatus DoStart(const OSystemEvent& event) override;
    void Ready(const OReadyEvent& event);

private:
    void send_next();

    Joints joints_;
    std::vector<std::vector<double>> path_;
    size_t sent_ = 0;
};

#endif
