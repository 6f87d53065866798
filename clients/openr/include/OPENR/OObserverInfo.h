// An observer, as its subject knows it: whether it is ready, and what waits for it.
#ifndef NUTMEG_OPENR_OOBSERVER_INFO_H
#define NUTMEG_OPENR_OOBSERVER_INFO_H

#include <OPENR/ObjcommTypes.h>
#include <OPENR/RCRegion.h>

#include <list>

class OObserverInfo {
public:
    OObserverInfo() : min_(1), max_(1), skip_(0), skipped_(0), ready_(0), notifies_(0), due_(0) {}
    const ObserverID& GetObserverID() const { return id_; }

private:
    friend class OSubject;
    ObserverID id_;
    size_t min_;
    size_t max_;
    size_t skip_;
    size_t skipped_;
    int ready_;
    int notifies_;
    size_t due_;
    std::list<RCRegion*> waiting_;
};

typedef OObserverInfo ObserverInfo;

#endif
