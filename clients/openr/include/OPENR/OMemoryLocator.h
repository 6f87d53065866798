// A place in a shared memory region.
#ifndef NUTMEG_OPENR_OMEMORY_LOCATOR_H
#define NUTMEG_OPENR_OMEMORY_LOCATOR_H

#include <MCOOP.h>

struct OMemoryLocator {
    MemoryRegionID mid;
    u_int offset;

    OMemoryLocator() : mid(UNDEF), offset(UNDEF) {}
    OMemoryLocator(MemoryRegionID region, u_int where) : mid(region), offset(where) {}
    void Set(MemoryRegionID region, u_int where) {
        mid = region;
        offset = where;
    }
    bool IsInvalid() const { return mid == UNDEF && offset == UNDEF; }
    void MakeInvalid() { mid = offset = UNDEF; }
};

inline bool operator==(const OMemoryLocator& a, const OMemoryLocator& b) {
    return a.mid == b.mid && a.offset == b.offset;
}
inline bool operator<(const OMemoryLocator& a, const OMemoryLocator& b) {
    return a.mid == b.mid ? a.offset < b.offset : a.mid < b.mid;
}

#endif
