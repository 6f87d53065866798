// Questions to the driver of the wireless card.
#ifndef NUTMEG_OPENR_ETHER_DRIVER_MSG_H
#define NUTMEG_OPENR_ETHER_DRIVER_MSG_H

#include <EtherTypes.h>

struct EtherDriverGetMACAddressMsg {
    longword port;
    EtherMACAddress address;
    EtherStatus status;
};

struct EtherDriverGetStatisticsMsg {
    longword port;
    EtherStatistics statistics;
    EtherStatus status;
};

#endif
