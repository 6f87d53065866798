// Names of the robot's network stack.
#ifndef NUTMEG_OPENR_ANT_TYPES_H
#define NUTMEG_OPENR_ANT_TYPES_H

#include <OID.h>
#include <Types.h>

#include <iostream>

typedef int boolean;
typedef std::ostream OSTREAM;
typedef OID antObjectID;

enum antError {
    ANT_SUCCESS = 0,
    ANT_FAIL = 1,
    ANT_NOMEMORY = 2,
    ANT_INVALIDPTR = 3,
    ANT_INVALIDMODULEID = 15,
    ANT_ENDPOINT_NOFACTORY = 27
};

const char* antErrorString(antError error);

// An endpoint, by its number.
class antModuleRef {
public:
    antModuleRef() : index_(0) {}
    antModuleRef(void*, uint32 index) : index_(index) {}
    int operator==(const antModuleRef& other) const { return index_ == other.index_; }
    uint32 Index() const { return index_; }

private:
    uint32 index_;
};

// Memory that endpoints send from and receive into.
class antSharedBuffer {
public:
    antSharedBuffer() : base_(0), size_(0) {}
    antSharedBuffer(void* base, uint32 size) : base_(base), size_(size) {}
    antError Map() { return base_ == 0 ? ANT_FAIL : ANT_SUCCESS; }
    antError UnMap() { return ANT_SUCCESS; }
    void* GetAddress() { return base_; }
    uint32 GetSize() { return size_; }

private:
    void* base_;
    uint32 size_;
};

#endif
