// A pointer to a counted region of memory, which is copied when somebody writes while others still refer to it.
#ifndef NUTMEG_OPENR_OSHM_PTR_H
#define NUTMEG_OPENR_OSHM_PTR_H

#include <OPENR/RCRegion.h>
#include <stddef.h>
#include <string.h>

class OShmPtrBase {
public:
    OShmPtrBase() : region_(0) {}
    OShmPtrBase(const OShmPtrBase& other) : region_(other.region_) { Refer(); }
    OShmPtrBase(RCRegion* region) : region_(region) { Refer(); }
    ~OShmPtrBase() { Deallocate(); }

    OShmPtrBase& operator=(const OShmPtrBase& other) {
        RCRegion* const region = other.region_;
        if (region != 0) region->AddReference();
        Deallocate();
        region_ = region;
        return *this;
    }
    void Deallocate() {
        if (region_ != 0) region_->RemoveReference();
        region_ = 0;
    }

    char* Base() const { return region_ == 0 ? 0 : region_->Base(); }
    size_t Size() const { return region_ == 0 ? 0 : region_->Size(); }
    MemoryRegionID MemID() const { return region_ == 0 ? 0 : region_->MemID(); }
    size_t Offset() const { return region_ == 0 ? 0 : region_->Offset(); }
    RCRegion* RCRPtr() const { return region_; }

protected:
    // A new region, of which this is the only owner.
    void Reserve(size_t size) {
        Deallocate();
        region_ = new RCRegion(size);
    }
    // Before writing: whoever else refers to the region keeps what it has.
    void BeAlone() {
        if (region_ == 0 || region_->NumberOfReference() <= 1) return;
        RCRegion* const copy = new RCRegion(region_->Size());
        memcpy(copy->Base(), region_->Base(), region_->Size());
        region_->RemoveReference();
        region_ = copy;
    }

private:
    void Refer() {
        if (region_ != 0) region_->AddReference();
    }

    RCRegion* region_;
};

template <class T>
class OShmPtr : public OShmPtrBase {
public:
    // An element that is read as a T and copies the region first when it is written.
    class Proxy {
    public:
        Proxy(OShmPtr& owner, int index) : owner_(owner), index_(index) {}
        operator const T&() const { return owner_.At(index_); }
        Proxy& operator=(const T& value) {
            owner_.BeAlone();
            reinterpret_cast<T*>(owner_.Base())[index_] = value;
            return *this;
        }
        Proxy& operator=(const Proxy& other) { return *this = static_cast<const T&>(other); }

    private:
        OShmPtr& owner_;
        int index_;
    };

    OShmPtr() {}
    OShmPtr(const OShmPtrBase& other) : OShmPtrBase(other) {}
    OShmPtr(const OShmPtr& other) : OShmPtrBase(other) {}
    OShmPtr(RCRegion* region) : OShmPtrBase(region) {}
    explicit OShmPtr(size_t count) { Allocate(static_cast<int>(count)); }

    OShmPtr& operator=(const OShmPtrBase& other) {
        OShmPtrBase::operator=(other);
        return *this;
    }
    OShmPtr& operator=(const OShmPtr& other) {
        OShmPtrBase::operator=(other);
        return *this;
    }

    void Allocate(int count) { Reserve(sizeof(T) * static_cast<size_t>(count)); }
    size_t NumOfElement() const { return Size() / sizeof(T); }

    const T& operator*() const { return At(0); }
    Proxy operator*() { return Proxy(*this, 0); }
    const T& operator[](int index) const { return At(index); }
    Proxy operator[](int index) { return Proxy(*this, index); }
    const T* operator->() const { return &At(0); }

private:
    friend class Proxy;
    const T& At(int index) const { return reinterpret_cast<const T*>(Base())[index]; }
};

#endif
