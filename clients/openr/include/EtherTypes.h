// What the driver of the wireless card counts and answers.
#ifndef NUTMEG_OPENR_ETHER_TYPES_H
#define NUTMEG_OPENR_ETHER_TYPES_H

#include <Types.h>

enum EtherStatus {
    ETHER_OK = 0,
    ETHER_UNSUPPORTED,
    ETHER_NO_MEMORY,
    ETHER_INVALID_PROTOCOL,
    ETHER_INVALID_ADDRESS,
    ETHER_INVALID_PORT,
    ETHER_INVALID_ATTR,
    ETHER_NO_CLIENT_ENTRY,
    ETHER_INVALID_HANDLE,
    ETHER_RCV_IDLE,
    ETHER_RCV_BUSY,
    ETHER_NO_ADDRESS_ENTRY,
    ETHER_NO_DEVICE
};

struct EtherMACAddress {
    byte octet[6];
};

struct EtherStatistics {
    longword carrierSenseErrorCount;
    longword lateCollisionCount;
    longword excessiveCollisionCount;
    longword singleCollisionCount;
    longword multipleCollisionCount;
    longword deferredCount;
    longword alignmentErrorCount;
    longword fcsErrorCount;
    longword frameTooLongCount;
};

#endif
