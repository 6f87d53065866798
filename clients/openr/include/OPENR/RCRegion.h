// A piece of memory that counts who still needs it; the last RemoveReference ends it.
#ifndef NUTMEG_OPENR_RCREGION_H
#define NUTMEG_OPENR_RCREGION_H

#include <MCOOP.h>
#include <OPENR/OStatus.h>
#include <Types.h>
#include <string.h>

typedef unsigned int offset_t;

class RCRegion {
public:
    enum RegionType { SELF_ALLOCATED, REFERENCE_V20, REFERENCE_V10, UNDEF };

    RCRegion();
    explicit RCRegion(size_t size);
    RCRegion(MemoryRegionID region, offset_t offset, void* base = 0, size_t size = 0);

    // The host has memory enough: there is nothing to reserve.
    static OStatus ReserveSharedMemory(size_t) { return oSUCCESS; }

    void AddReference();
    void RemoveReference();
    int NumberOfReference() const;

    char* Base() const { return base_; }
    size_t Size() const { return size_; }
    MemoryRegionID MemID() const { return region_; }
    offset_t Offset() const { return offset_; }
    RegionType GetType() const { return type_; }
    void SetSize(size_t size) { size_ = size; }

private:
    friend class OObserver;
    explicit RCRegion(RCRegion* source);
    ~RCRegion();
    RCRegion(const RCRegion&);
    RCRegion& operator=(const RCRegion&);

    int count_;
    RegionType type_;
    MemoryRegionID region_;
    offset_t offset_;
    size_t size_;
    char* base_;
    RCRegion* source_;
};

typedef RCRegion RCRegionBase;

#endif
