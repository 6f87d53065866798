// ERA201D1.h: there is no radio on the host. The card has an address of its own, the settings that the memory stick
// names, and a link without errors.
#include "wireless.h"

#include <ERA201D1.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "memory_stick.h"
#include "robot_link.h"

namespace nutmeg::openr {

namespace {

const char* const FILES[] = {"/MS/OPEN-R/SYSTEM/CONF/WLANCONF.TXT", "/MS/OPEN-R/SYSTEM/CONF/WLANDFLT.TXT"};
const longword UNUSED = 2347;  // above the longest frame: neither medium reservation nor fragmentation
const byte ALL = 100;          // per cent

std::string trimmed(const std::string& text) {
    const size_t first = text.find_first_not_of(" \t\r");
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

void copy_text(char* into, const std::string& text, size_t most) {
    std::strncpy(into, text.c_str(), most);
    into[most] = 0;
}

}  // namespace

std::string network_setting(const std::string& key) {
    for (const char* file : FILES) {
        std::ifstream lines(host_path(file));
        for (std::string line; std::getline(lines, line);) {
            const size_t equals = line.find('=');
            if (line[0] != '#' && equals != std::string::npos && trimmed(line.substr(0, equals)) == key) {
                return trimmed(line.substr(equals + 1));
            }
        }
    }
    return "";
}

}  // namespace nutmeg::openr

using nutmeg::openr::network_setting;

// Locally administered (its first octet is 2); robots on other ports have others.
EtherStatus ERA201D1_GetMACAddress(EtherDriverGetMACAddressMsg* msg) {
    const int port = nutmeg::openr::robot_link().address().command_port;
    const byte octets[6] = {2, 'N', 'M', 0, static_cast<byte>(port >> 8), static_cast<byte>(port)};
    std::memcpy(msg->address.octet, octets, sizeof(octets));
    return msg->status = ETHER_OK;
}

EtherStatus ERA201D1_GetEtherStatistics(EtherDriverGetStatisticsMsg* msg) {
    msg->statistics = EtherStatistics();
    return msg->status = ETHER_OK;
}

EtherStatus ERA201D1_GetWLANSettings(EtherDriverGetWLANSettingsMsg* msg) {
    msg->mode = network_setting("APMODE") == "0" ? ETHER_WLAN_MODE_ADHOC : ETHER_WLAN_MODE_AP;
    nutmeg::openr::copy_text(msg->essid, network_setting("ESSID"), ETHER_WLAN_ESSID_MAX);
    nutmeg::openr::copy_text(msg->stationName, network_setting("HOSTNAME"), ETHER_WLAN_STATIONNAME_MAX);
    msg->channel = static_cast<longword>(std::atoi(network_setting("CHANNEL").c_str()));
    msg->encryption = network_setting("WEPENABLE") == "1" ? ETHER_WLAN_ENC_WEP : ETHER_WLAN_ENC_OFF;
    msg->rate = ETHER_WLAN_RATE_11MB;
    msg->rts = msg->fragmentation = nutmeg::openr::UNUSED;
    msg->sensitivity = ETHER_WLAN_DENSITY_LOW;
    return msg->status = ETHER_OK;
}

EtherStatus ERA201D1_GetWLANStatistics(EtherDriverGetWLANStatisticsMsg* msg) {
    msg->statistics = EtherWLANStatistics();
    msg->statistics.link = msg->statistics.signal = nutmeg::openr::ALL;
    return msg->status = ETHER_OK;
}
