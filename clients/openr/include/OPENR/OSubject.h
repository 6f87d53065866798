// The sending end of a service. SetData queues a region for observers; NotifyObservers sends it to those that are
// ready; to the others it goes when they assert READY.
#ifndef NUTMEG_OPENR_OSUBJECT_H
#define NUTMEG_OPENR_OSUBJECT_H

#include <OPENR/OObserverInfo.h>
#include <OPENR/OPENR.h>
#include <OPENR/OShmPtr.h>
#include <OPENR/ObjcommMessages.h>
#include <OPENR/ObjcommTypes.h>

#include <list>

typedef std::list<OObserverInfo>::iterator ObserverIterator;
typedef std::list<OObserverInfo>::const_iterator ObserverConstIterator;

class OSubject {
public:
    OSubject();
    ~OSubject();

    OStatus SetReadyEntry(const OServiceEntry& entry);
    const SubjectID& GetID() const { return id_; }
    OStatus SetBufferSize(size_t size);
    size_t GetBufferSize() const { return bufferSize_; }
    OStatus SetNotifyUnitSize(size_t size);
    size_t GetNotifyUnitSize() const { return unitSize_; }

    OStatus SetData(RCRegion* region);
    OStatus SetData(const ObserverID& id, RCRegion* region);
    OStatus SetData(const OObserverInfo& info, RCRegion* region) { return SetData(info.GetObserverID(), region); }
    OStatus SetData(const void* data, size_t size);
    OStatus SetData(const ObserverID& id, const void* data, size_t size);
    OStatus SetData(const OObserverInfo& info, const void* data, size_t size) {
        return SetData(info.GetObserverID(), data, size);
    }
    OStatus SetData(const OShmPtrBase& pointer) { return SetData(pointer.RCRPtr()); }
    OStatus SetData(const ObserverID& id, const OShmPtrBase& pointer) { return SetData(id, pointer.RCRPtr()); }
    OStatus SetData(const OObserverInfo& info, const OShmPtrBase& pointer) {
        return SetData(info.GetObserverID(), pointer.RCRPtr());
    }

    OStatus NotifyObservers();
    OStatus NotifyObserver(const ObserverID& id);
    OStatus NotifyObserver(const OObserverInfo& info) { return NotifyObserver(info.GetObserverID()); }

    size_t RemainBuffer() const;
    size_t RemainBuffer(const ObserverID& id) const;
    size_t RemainBuffer(const OObserverInfo& info) const { return RemainBuffer(info.GetObserverID()); }
    OStatus ClearBuffer();
    OStatus ClearBuffer(const ObserverID& id);
    OStatus ClearBuffer(const OObserverInfo& info) { return ClearBuffer(info.GetObserverID()); }

    int NumberOfObservers() const { return static_cast<int>(observers_.size()); }
    ObserverConstIterator begin() const { return observers_.begin(); }
    ObserverConstIterator end() const { return observers_.end(); }
    ObserverConstIterator FindObserver(const ObserverID& id) const;

    int ReadyStatus(const ObserverID& id) const;
    int ReadyStatus(const OObserverInfo& info) const { return info.ready_; }
    int IsAllReady() const;
    int IsAnyReady() const;
    int IsReady() const { return IsAnyReady(); }
    int IsReady(const ObserverID& id) const { return ReadyStatus(id) > 0; }
    int IsReady(const OObserverInfo& info) const { return info.ready_ > 0; }

    // Called by the generated stub.
    OStatus ControlHandler(const OControlMessage& message, OStatus status = oSUCCESS);
    OStatus ReadyHandler(const OReadyMessage& message);

private:
    OSubject(const OSubject&);
    OSubject& operator=(const OSubject&);
    ObserverIterator Find(const ObserverID& id);
    OStatus Enqueue(OObserverInfo& observer, RCRegion* region);
    OStatus Notify(OObserverInfo& observer);
    OStatus Offer(OObserverInfo& observer);
    OStatus Send(OObserverInfo& observer);
    void Clear(OObserverInfo& observer);
    void DropOldest(OObserverInfo& observer);

    SubjectID id_;
    std::list<OObserverInfo> observers_;
    size_t bufferSize_;
    size_t unitSize_;
};

#endif
