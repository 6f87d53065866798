// What the driver of the wireless card counts and answers.
#ifndef NUTMEG_OPENR_ETHER_TYPES_H
#define NUTMEG_OPENR_ETHER_TYPES_H

#include <Types.h>

#include <iomanip>
#include <ostream>

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

// What a status is called, for messages.
inline const char* etherStatusStr(EtherStatus status) {
    static const char* const names[] = {"ETHER_OK",
                                        "ETHER_UNSUPPORTED",
                                        "ETHER_NO_MEMORY",
                                        "ETHER_INVALID_PROTOCOL",
                                        "ETHER_INVALID_ADDRESS",
                                        "ETHER_INVALID_PORT",
                                        "ETHER_INVALID_ATTR",
                                        "ETHER_NO_CLIENT_ENTRY",
                                        "ETHER_INVALID_HANDLE",
                                        "ETHER_RCV_IDLE",
                                        "ETHER_RCV_BUSY",
                                        "ETHER_NO_ADDRESS_ENTRY",
                                        "ETHER_NO_DEVICE"};
    const int known = sizeof(names) / sizeof(names[0]);
    return status >= 0 && status < known ? names[status] : "unknown";
}

struct EtherMACAddress {
    byte octet[6];
};

// Six numbers in hexadecimal with colons between them.
inline std::ostream& operator<<(std::ostream& out, const EtherMACAddress& address) {
    const std::ios_base::fmtflags flags = out.flags();
    const char fill = out.fill('0');
    for (int i = 0; i < 6; ++i)
        out << (i ? ":" : "") << std::hex << std::setw(2) << static_cast<int>(address.octet[i]);
    out.flags(flags);
    out.fill(fill);
    return out;
}

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
