// The memory stick: paths under /MS lie in a folder of the host.
#ifndef NUTMEG_OPENR_MEMORY_STICK_H
#define NUTMEG_OPENR_MEMORY_STICK_H

#include <string>

namespace nutmeg::openr {

void set_memory_stick(const std::string& folder);
// The host's path for a path of the robot; others come back unchanged. As on the stick, capitals do not matter.
std::string host_path(const char* path);

}  // namespace nutmeg::openr

#endif
