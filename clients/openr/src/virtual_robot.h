// OVirtualRobotComm: the system object that stands for the robot. It forwards command vectors to the link, and sensor
// vectors and pictures from the link to the programs.
#ifndef NUTMEG_OPENR_VIRTUAL_ROBOT_H
#define NUTMEG_OPENR_VIRTUAL_ROBOT_H

#include <OPENR/OObserver.h>
#include <OPENR/OSubject.h>

#include <deque>
#include <memory>
#include <mutex>

#include "kernel.h"
#include "robot_link.h"

namespace nutmeg::openr {

class VirtualRobot {
public:
    VirtualRobot();
    void start();
    // After this, what arrives goes to the programs.
    void connect_link(RobotLink& link);
    // Asserts READY to all that command.
    void be_ready();
    void stop() { task_.stop(); }

private:
    // A command vector that the robot has and has not finished.
    struct Flight {
        std::uint32_t sequence;
        std::uint32_t frames;
        RCRegion* region;
        bool begun;
        std::uint32_t begun_frame;
    };
    struct Channel {
        SubjectID subject;
        std::uint32_t number;
        std::deque<Flight> flights;
    };

    void set_entries();
    void handle_commands(const ONotifyMessage& message);
    void handle_sensors(Bytes vector);
    void handle_picture(const Picture& picture);
    void handle_status(const CommandStatus& status);
    void tell_refused();
    void finish_what_is_nearly_done();
    void finish_first(Channel& channel);
    Channel& channel_of(const SubjectID& subject);
    void send_to_observers(OSubject& subject, RCRegion* region);

    Task task_;
    OSubject sensors_;
    OSubject images_;
    OObserver effector_;
    std::deque<Channel> channels_;
    std::uint32_t next_frame_ = 0;
    long refused_ = 0;
    RobotLink* link_ = nullptr;
    std::mutex inbox_mutex_;
    std::deque<Bytes> arrived_sensors_;
    std::deque<Picture> arrived_pictures_;
};

}  // namespace nutmeg::openr

#endif
