// openr-run: boots OPEN-R objects against a simulated robot, and ends them in order.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <thread>

#include "memory_stick.h"
#include "options.h"
#include "power.h"
#include "program.h"
#include "robot_link.h"
#include "virtual_audio.h"
#include "virtual_robot.h"

namespace nutmeg::openr {

namespace {

std::atomic<bool> ending{false};
std::atomic<int> exit_status{0};
std::atomic<bool> pause_pressed{false};

void handle_signal(int number) {
    if (number == SIGUSR1) {
        pause_pressed = true;
    } else {
        ending = true;
    }
}

void wait_for_the_end(double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto started = Clock::now();
    while (!ending) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        if (pause_pressed.exchange(false)) power_state().set_bits(orsbPAUSE, true);
        if (seconds > 0 && Clock::now() - started > std::chrono::duration<double>(seconds)) ending = true;
    }
}

// Everything goes by the robot's time: 32 ms of sound for each sensor vector.
void connect(RobotLink& link, VirtualRobot& robot, VirtualAudio& audio) {
    robot.connect_link(link);
    const auto forward = link.on_sensors;
    link.on_sensors = [forward, &audio](Bytes vector) {
        const auto& head = *reinterpret_cast<const OSensorFrameVectorData*>(vector.data());
        const longword frame = head.vectorInfo.numData > 0 ? head.info[0].frameNumber : 0;
        forward(std::move(vector));
        audio.advance(frame);
    };
}

// The order of the robot: first the system's objects, then all INIT, all connections, all START.
void run(const Options& options) {
    RobotLink& link = robot_link();
    if (options.robot) link.open(options.address);
    VirtualRobot robot;
    VirtualAudio audio;
    audio.use_files(options.microphone, options.speaker);
    Program program(options.verbose);
    robot.start();
    audio.start();
    for (const std::string& library : options.objects) program.load(library);
    if (options.motors_on) link.send_power(true);
    program.send_all(oentryINIT, oreasonBOOT);
    if (!options.connections.empty()) program.connect(options.connections);
    if (options.robot) connect(link, robot, audio);
    robot.be_ready();
    audio.be_ready(options.robot);
    activity().wait_until_idle(std::chrono::seconds(1));
    program.send_all(oentrySTART, oreasonBOOT);
    // What DoStart sent is under way to the robot before its time goes on.
    activity().wait_until_idle(std::chrono::seconds(1));
    link.on_lost = [](const std::string& why) {
        std::fprintf(stderr, "runtime: %s\n", why.c_str());
        request_end(2);
    };
    if (options.robot) link.start();
    wait_for_the_end(options.seconds);
    program.send_all(oentrySTOP, oreasonSHUTDOWN);
    program.send_all(oentryDESTROY, oreasonSHUTDOWN);
    std::fflush(nullptr);
    // An object may be in the middle of something that never returns: threads are left to the system.
    _exit(exit_status);
}

}  // namespace

void request_end(int status) {
    exit_status = status;
    ending = true;
}

}  // namespace nutmeg::openr

int main(int count, char** words) {
    using namespace nutmeg::openr;
    signal(SIGINT, handle_signal);
    signal(SIGTERM, handle_signal);
    signal(SIGUSR1, handle_signal);
    signal(SIGPIPE, SIG_IGN);
    Options options;
    try {
        options = read_options(count, words);
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "openr-run: %s\n%s", problem.what(), USAGE);
        return 64;
    }
    try {
        if (!options.memory_stick.empty()) set_memory_stick(options.memory_stick);
        run(options);
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "openr-run: %s\n", problem.what());
        std::fflush(nullptr);
        _exit(1);
    }
}
