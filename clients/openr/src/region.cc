// RCRegion: counted memory. A region received by an observer is a reference to the sender's region, which it gives back
// with READY; so each object only ever counts in its own thread, but counts are atomic all the same.
#include <OPENR/RCRegion.h>

#include "kernel.h"

using nutmeg::openr::delete_region;
using nutmeg::openr::new_region;
using nutmeg::openr::region_base;

RCRegion::RCRegion() : count_(1), type_(UNDEF), region_(0), offset_(0), size_(0), base_(nullptr), source_(nullptr) {}

RCRegion::RCRegion(size_t size)
    : count_(1), type_(SELF_ALLOCATED), region_(0), offset_(0), size_(size), base_(nullptr), source_(nullptr) {
    void* base = nullptr;
    region_ = new_region(size, &base);
    base_ = static_cast<char*>(base);
}

RCRegion::RCRegion(MemoryRegionID region, offset_t offset, void* base, size_t size)
    : count_(1),
      type_(REFERENCE_V10),
      region_(region),
      offset_(offset),
      size_(size),
      base_(static_cast<char*>(base)),
      source_(nullptr) {
    if (base_ == nullptr) {
        char* start = static_cast<char*>(region_base(region));
        base_ = start == nullptr ? nullptr : start + offset;
    }
}

RCRegion::RCRegion(RCRegion* source)
    : count_(1),
      type_(REFERENCE_V20),
      region_(source->region_),
      offset_(source->offset_),
      size_(source->size_),
      base_(source->base_),
      source_(source) {}

RCRegion::~RCRegion() {
    if (type_ == SELF_ALLOCATED) delete_region(region_);
}

void RCRegion::AddReference() { __atomic_add_fetch(&count_, 1, __ATOMIC_ACQ_REL); }

void RCRegion::RemoveReference() {
    if (__atomic_sub_fetch(&count_, 1, __ATOMIC_ACQ_REL) == 0) delete this;
}

int RCRegion::NumberOfReference() const { return __atomic_load_n(&count_, __ATOMIC_ACQUIRE); }
