// Why an object is initialised, started, stopped or destroyed.
#ifndef NUTMEG_OPENR_OPENREVENT_H
#define NUTMEG_OPENR_OPENREVENT_H

#include <OPENR/OPENR.h>
#include <OPENR/ObjcommEvent.h>

class OSystemEvent {
public:
    OSystemEvent(OReason reason, void* param, size_t size) : reason_(reason), param_(param), size_(size) {}
    OReason Reason() const { return reason_; }
    const void* Param() const { return param_; }
    size_t ParamSize() const { return size_; }

private:
    OReason reason_;
    void* param_;
    size_t size_;
};

#endif
