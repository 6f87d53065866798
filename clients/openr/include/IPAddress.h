// An Internet address of four bytes, as a number (127.0.0.1 is 0x7f000001).
#ifndef NUTMEG_OPENR_IPADDRESS_H
#define NUTMEG_OPENR_IPADDRESS_H

#include <antTypes.h>

struct IPAddress {
    IPAddress() : address(0) {}
    IPAddress(uint32 number) : address(number) {}
    IPAddress(int number) : address(static_cast<uint32>(number)) {}
    IPAddress(byte a, byte b, byte c, byte d)
        : address(static_cast<uint32>(a) << 24 | static_cast<uint32>(b) << 16 | static_cast<uint32>(c) << 8 | d) {}
    IPAddress(const char* text);

    boolean operator==(const IPAddress& other) const { return address == other.address; }
    boolean operator!=(const IPAddress& other) const { return address != other.address; }
    boolean operator<(const IPAddress& other) const { return address < other.address; }
    IPAddress operator&(const IPAddress& other) const { return IPAddress(address & other.address); }
    boolean InMulticast() const { return address >> 28 == 0xe; }
    boolean InBroadcast() const { return address == 0xffffffff; }
    boolean InLoop() const { return address >> 24 == 0x7f; }
    uint32 Address() const { return address; }
    char* GetAsString(char* text) const;

private:
    uint32 address;
};

typedef uint16 Port;
const IPAddress IP_ADDR_ANY(0);
const IPAddress IP_ADDR_BROADCAST(0xffffffffu);
#define IP_PORT_ANY 0

OSTREAM& operator<<(OSTREAM& out, const IPAddress& address);

#endif
