// A program: its objects, loaded from shared libraries, connected and taken through their lives.
#ifndef NUTMEG_OPENR_PROGRAM_H
#define NUTMEG_OPENR_PROGRAM_H

#include <memory>
#include <string>
#include <vector>

#include "kernel.h"

namespace nutmeg::openr {

class Program {
public:
    explicit Program(bool verbose) : verbose_(verbose) {}
    // Loads one object; throws std::runtime_error.
    void load(const std::string& library);
    // Connects services as CONNECT.CFG says; lines whose services nobody offers are reported and skipped.
    void connect(const std::string& file);
    // Sends INIT, START, STOP or DESTROY to every object and waits for each, at most a second when it ends.
    void send_all(Selector entry, OReason reason);

private:
    void connect_pair(const std::string& subject, const std::string& observer, const std::string& where);

    bool verbose_;
    std::vector<std::unique_ptr<Task>> tasks_;
};

}  // namespace nutmeg::openr

#endif
