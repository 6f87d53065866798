// What the memory stick says about the robot's network (WLANCONF.TXT).
#ifndef NUTMEG_OPENR_WIRELESS_H
#define NUTMEG_OPENR_WIRELESS_H

#include <string>

namespace nutmeg::openr {

// The value of a key such as ESSID or ETHER_IP; empty if the stick does not say.
std::string network_setting(const std::string& key);

}  // namespace nutmeg::openr

#endif
