// Looks around: the head goes round an ellipse for ever.
#ifndef HEAD_MOVER_H
#define HEAD_MOVER_H

#include <ExampleObject.h>
#include <Joints.h>

#include <vector>

class HeadMover : public ExampleObject {
public:
    OStatus DoInit(const OSystemEvent& event) override;
    OStatus DoStart(const OSystemEvent& event) override;
    void Ready(const OReadyEvent& event);

private:
    void send_next();

    Joints joints_;
    std::vector<double> last_;
    int step_ = 0;
};

#endif
