#include "options.h"

#include <cstdlib>
#include <stdexcept>

namespace nutmeg::openr {

const char* const USAGE =
    "usage: openr-run [options] OBJECT.so...\n"
    "  --host NAME            where `nutmeg serve --protocol openr` runs (OPENR_HOST; 127.0.0.1)\n"
    "  --sensor-port PORT     its sensors (OPENR_SENSOR_PORT; 10120)\n"
    "  --command-port PORT    its commands (OPENR_COMMAND_PORT; sensor port + 1)\n"
    "  --no-robot             run without one, for programs that only talk to each other\n"
    "  --motors-on            switch the motors on first, for programs that leave that to others\n"
    "  --connections FILE     CONNECT.CFG: which subject serves which observer\n"
    "  --memory-stick FOLDER  what programs see as /MS\n"
    "  --microphone FILE      what the microphones hear: WAV, 16 kHz, 16 bits (silence)\n"
    "  --speaker FILE         where to keep what the speaker plays, as WAV\n"
    "  --seconds S            end after this time\n"
    "  --verbose              say what is loaded and connected\n"
    "SIGINT ends the program (DoStop, DoDestroy); SIGUSR1 presses the robot's pause button.\n";

namespace {

const char* environment(const char* name, const char* otherwise) {
    const char* value = std::getenv(name);
    return value == nullptr || *value == 0 ? otherwise : value;
}

int port_from(const std::string& name, const std::string& text) {
    char* end = nullptr;
    const long port = std::strtol(text.c_str(), &end, 10);
    if (*end != 0 || text.empty() || port < 1 || port > 65535) {
        throw std::runtime_error(name + " is '" + text + "'; it must be a port number from 1 to 65535");
    }
    return static_cast<int>(port);
}

double seconds_from(const std::string& text) {
    char* end = nullptr;
    const double seconds = std::strtod(text.c_str(), &end);
    if (*end != 0 || text.empty() || !(seconds > 0)) {
        throw std::runtime_error("--seconds is '" + text + "'; it must be a number above 0");
    }
    return seconds;
}

}  // namespace

Options read_options(int count, char** words) {
    Options options;
    options.address.host = environment("OPENR_HOST", "127.0.0.1");
    options.address.sensor_port = port_from("OPENR_SENSOR_PORT", environment("OPENR_SENSOR_PORT", "10120"));
    std::string command_port = environment("OPENR_COMMAND_PORT", "");
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        const auto value = [&]() -> std::string {
            if (i + 1 >= count) throw std::runtime_error(word + " needs a value");
            return words[++i];
        };
        if (word == "--host") {
            options.address.host = value();
        } else if (word == "--sensor-port") {
            options.address.sensor_port = port_from(word, value());
        } else if (word == "--command-port") {
            command_port = value();
        } else if (word == "--connections") {
            options.connections = value();
        } else if (word == "--memory-stick") {
            options.memory_stick = value();
        } else if (word == "--microphone") {
            options.microphone = value();
        } else if (word == "--speaker") {
            options.speaker = value();
        } else if (word == "--seconds") {
            options.seconds = seconds_from(value());
        } else if (word == "--no-robot") {
            options.robot = false;
        } else if (word == "--motors-on") {
            options.motors_on = true;
        } else if (word == "--verbose") {
            options.verbose = true;
        } else if (word.rfind("--", 0) == 0) {
            throw std::runtime_error("unknown option " + word);
        } else {
            options.objects.push_back(word);
        }
    }
    options.address.command_port =
        command_port.empty() ? options.address.sensor_port + 1 : port_from("--command-port", command_port);
    if (options.objects.empty()) throw std::runtime_error("no object to run");
    return options;
}

}  // namespace nutmeg::openr
