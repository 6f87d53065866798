// What the runner is told on its command line and by its environment.
#ifndef NUTMEG_OPENR_OPTIONS_H
#define NUTMEG_OPENR_OPTIONS_H

#include <string>
#include <vector>

#include "robot_link.h"

namespace nutmeg::openr {

struct Options {
    Address address;
    bool robot = true;
    bool motors_on = false;
    bool verbose = false;
    double seconds = 0;  // 0: until it ends by itself or is interrupted
    std::string connections;
    std::string memory_stick;
    std::string microphone;  // a sound file that the microphones hear
    std::string speaker;     // a file for what the speaker plays
    std::vector<std::string> objects;
};

// Throws std::runtime_error that says what is wrong and what is allowed.
Options read_options(int count, char** words);
extern const char* const USAGE;

}  // namespace nutmeg::openr

#endif
