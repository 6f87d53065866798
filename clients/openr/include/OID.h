// The name of an object: on the host, the address of its task.
#ifndef NUTMEG_OPENR_OID_H
#define NUTMEG_OPENR_OID_H

#include <Types.h>

#define OID_UNDEF 0xFFFFFFFF

class OID {
public:
    void* address;

    OID() : address(Nowhere()) {}
    OID(void* where) : address(where) {}

    void SetAddress(void* where) { address = where; }
    void* GetAddress() const { return address; }
    bool IsValid() const { return address != Nowhere(); }
    void MakeInvalid() { address = Nowhere(); }

    bool operator==(const OID& other) const { return address == other.address; }
    bool operator!=(const OID& other) const { return address != other.address; }
    bool operator<(const OID& other) const { return address < other.address; }
    bool operator<=(const OID& other) const { return address <= other.address; }
    bool operator>(const OID& other) const { return address > other.address; }
    bool operator>=(const OID& other) const { return address >= other.address; }

private:
    static void* Nowhere() { return reinterpret_cast<void*>(static_cast<size_t>(OID_UNDEF)); }
};

#endif
