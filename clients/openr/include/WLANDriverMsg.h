// Settings and statistics of the wireless card.
#ifndef NUTMEG_OPENR_WLAN_DRIVER_MSG_H
#define NUTMEG_OPENR_WLAN_DRIVER_MSG_H

#include <EtherTypes.h>

enum EtherWLANMode { ETHER_WLAN_MODE_ADHOC = 0, ETHER_WLAN_MODE_AP };
enum EtherWLANEncryption { ETHER_WLAN_ENC_OFF = 0, ETHER_WLAN_ENC_WEP };
enum EtherWLANRate {
    ETHER_WLAN_RATE_1MB = 0,
    ETHER_WLAN_RATE_2MB,
    ETHER_WLAN_RATE_5_5MB,
    ETHER_WLAN_RATE_11MB,
    ETHER_WLAN_RATE_AUTO
};
enum EtherWLANSensitivity { ETHER_WLAN_DENSITY_LOW = 0, ETHER_WLAN_DENSITY_MED, ETHER_WLAN_DENSITY_HIGH };

#define ETHER_WLAN_ESSID_MAX 32
#define ETHER_WLAN_STATIONNAME_MAX 32

struct EtherWLANStatistics {
    byte link;  // these three in per cent
    byte signal;
    byte noise;
    longword invalidIDCount;
    longword invalidEncCount;
    longword invalidMiscCount;
};

struct EtherDriverGetWLANSettingsMsg {
    longword port;
    EtherWLANMode mode;
    char essid[ETHER_WLAN_ESSID_MAX + 1];
    char stationName[ETHER_WLAN_STATIONNAME_MAX + 1];
    longword channel;
    EtherWLANEncryption encryption;
    EtherWLANRate rate;
    longword rts;
    longword fragmentation;
    EtherWLANSensitivity sensitivity;
    EtherStatus status;
};

struct EtherDriverGetWLANStatisticsMsg {
    longword port;
    EtherWLANStatistics statistics;
    EtherStatus status;
};

#endif
