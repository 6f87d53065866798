// Subjects and observers: who is ready, what waits, and what goes back.
#include <OPENR/OObserver.h>
#include <OPENR/OSubject.h>

#include <algorithm>
#include <cstring>

#include "kernel.h"

namespace {
const size_t DEFAULT_BUFFER = MAX_NUM_DATA + 1;

void take_back(const OReadyMessage& message) {
    for (int i = 0; i < message.numOfData; ++i) message.rcRegion[i]->RemoveReference();
}
}  // namespace

ostream& operator<<(ostream& out, const OServiceEntry& entry) {
    return out << "(" << entry.oid.GetAddress() << ", " << entry.selector << ")";
}

OSubject::OSubject() : bufferSize_(DEFAULT_BUFFER), unitSize_(1) {}
OSubject::~OSubject() { ClearBuffer(); }

OStatus OSubject::SetReadyEntry(const OServiceEntry& entry) {
    id_ = entry;
    return oSUCCESS;
}

OStatus OSubject::SetBufferSize(size_t size) {
    if (size == 0) return oINVALID_ARG;
    bufferSize_ = size;
    return oSUCCESS;
}

OStatus OSubject::SetNotifyUnitSize(size_t size) {
    if (size == 0 || size > MAX_NUM_DATA) return oINVALID_ARG;
    unitSize_ = size;
    return oSUCCESS;
}

ObserverIterator OSubject::Find(const ObserverID& id) {
    return std::find_if(observers_.begin(), observers_.end(),
                        [&id](const OObserverInfo& observer) { return observer.GetObserverID() == id; });
}

ObserverConstIterator OSubject::FindObserver(const ObserverID& id) const {
    return const_cast<OSubject*>(this)->Find(id);
}

// A full queue loses its oldest region.
OStatus OSubject::Enqueue(OObserverInfo& observer, RCRegion* region) {
    region->AddReference();
    observer.waiting_.push_back(region);
    if (observer.waiting_.size() <= bufferSize_) return oSUCCESS;
    DropOldest(observer);
    return oOVERFLOW;
}

void OSubject::DropOldest(OObserverInfo& observer) {
    observer.waiting_.front()->RemoveReference();
    observer.waiting_.pop_front();
    if (observer.due_ > 0) --observer.due_;
}

void OSubject::Clear(OObserverInfo& observer) {
    while (!observer.waiting_.empty()) DropOldest(observer);
    observer.notifies_ = 0;
}

OStatus OSubject::SetData(RCRegion* region) {
    if (region == nullptr) return oINVALID_ARG;
    OStatus status = oSUCCESS;
    for (OObserverInfo& observer : observers_) status = std::max(status, Enqueue(observer, region));
    return status;
}

OStatus OSubject::SetData(const ObserverID& id, RCRegion* region) {
    const ObserverIterator observer = Find(id);
    if (region == nullptr || observer == observers_.end()) return oINVALID_ARG;
    return Enqueue(*observer, region);
}

OStatus OSubject::SetData(const void* data, size_t size) {
    RCRegion* region = new RCRegion(size);
    std::memcpy(region->Base(), data, size);
    const OStatus status = SetData(region);
    region->RemoveReference();
    return status;
}

OStatus OSubject::SetData(const ObserverID& id, const void* data, size_t size) {
    RCRegion* region = new RCRegion(size);
    std::memcpy(region->Base(), data, size);
    const OStatus status = SetData(id, region);
    region->RemoveReference();
    return status;
}

OStatus OSubject::Send(OObserverInfo& observer) {
    ONotifyMessage message;
    message.subjectID = id_;
    message.numOfNotify = observer.notifies_;
    message.numOfData = 0;
    const size_t limit = std::min<size_t>(std::max(observer.max_, unitSize_), MAX_NUM_DATA);
    for (; observer.due_ > 0 && static_cast<size_t>(message.numOfData) < limit; --observer.due_) {
        message.rcRegion[message.numOfData++] = observer.waiting_.front();
        observer.waiting_.pop_front();
    }
    observer.notifies_ = 0;
    observer.ready_ = 0;
    const OServiceEntry& to = observer.GetObserverID();
    return ::Send(to.oid, to.selector, &message, sizeof(message)) == sSUCCESS ? oSUCCESS : oSEND_FAIL;
}

// Sends what was notified, if the observer is ready for that much.
OStatus OSubject::Offer(OObserverInfo& observer) {
    if (observer.ready_ <= 0 || observer.due_ < std::max<size_t>(observer.min_, 1)) return oSUCCESS;
    if (observer.skipped_ < observer.skip_) {
        ++observer.skipped_;
        DropOldest(observer);
        return oSUCCESS;
    }
    observer.skipped_ = 0;
    return Send(observer);
}

OStatus OSubject::Notify(OObserverInfo& observer) {
    ++observer.notifies_;
    observer.due_ = observer.waiting_.size();
    return Offer(observer);
}

OStatus OSubject::NotifyObservers() {
    OStatus status = oSUCCESS;
    for (OObserverInfo& observer : observers_) status = std::max(status, Notify(observer));
    return status;
}

OStatus OSubject::NotifyObserver(const ObserverID& id) {
    const ObserverIterator observer = Find(id);
    return observer == observers_.end() ? oINVALID_ARG : Notify(*observer);
}

size_t OSubject::RemainBuffer() const {
    size_t most = 0;
    for (const OObserverInfo& observer : observers_) most = std::max(most, observer.waiting_.size());
    return most;
}

size_t OSubject::RemainBuffer(const ObserverID& id) const {
    const ObserverConstIterator observer = FindObserver(id);
    return observer == observers_.end() ? 0 : observer->waiting_.size();
}

OStatus OSubject::ClearBuffer() {
    for (OObserverInfo& observer : observers_) Clear(observer);
    return oSUCCESS;
}

OStatus OSubject::ClearBuffer(const ObserverID& id) {
    const ObserverIterator observer = Find(id);
    if (observer == observers_.end()) return oINVALID_ARG;
    Clear(*observer);
    return oSUCCESS;
}

int OSubject::ReadyStatus(const ObserverID& id) const {
    const ObserverConstIterator observer = FindObserver(id);
    return observer == observers_.end() ? -1 : observer->ready_;
}

int OSubject::IsAllReady() const {
    return std::all_of(observers_.begin(), observers_.end(), [](const OObserverInfo& o) { return o.ready_ > 0; });
}

int OSubject::IsAnyReady() const {
    return std::any_of(observers_.begin(), observers_.end(), [](const OObserverInfo& o) { return o.ready_ > 0; });
}

OStatus OSubject::ControlHandler(const OControlMessage& message, OStatus status) {
    if (status == oSUCCESS && message.command == objcommCMD_ADDOBSERVER) {
        OObserverInfo observer;
        observer.id_ = message.observerID;
        observer.skip_ = message.d_skip;
        observer.min_ = message.d_min;
        observer.max_ = message.d_max;
        observers_.push_back(observer);
    } else if (status == oSUCCESS && message.command == objcommCMD_REMOVEOBSERVER) {
        ClearBuffer(message.observerID);
        const ObserverIterator observer = Find(message.observerID);
        if (observer != observers_.end()) observers_.erase(observer);
    }
    OControlReplyMessage reply;
    reply.status = status;
    reply.subjectID = id_;
    Reply(&reply, sizeof(reply));
    return status;
}

OStatus OSubject::ReadyHandler(const OReadyMessage& message) {
    take_back(message);
    const ObserverIterator observer = Find(message.observerID);
    if (observer == observers_.end()) return oITEM_NOT_FOUND;
    if (message.command != objcommCMD_ASSERT_READY) {
        observer->ready_ = -1;
        return oSUCCESS;
    }
    observer->ready_ = 1;
    return Offer(*observer);
}

OObserver::OObserver() : skip_(0), min_(1), max_(1) {}
OObserver::~OObserver() {}

OStatus OObserver::SetNotifyEntry(const OServiceEntry& entry) {
    id_ = entry;
    return oSUCCESS;
}

// The observer asks the subject itself; an object may also be connected to itself, and must not wait for itself then.
OStatus OObserver::ConnectHandler(const OConnectMessage& message, OStatus status) {
    if (status != oSUCCESS) return status;
    OControlMessage control;
    control.command = message.command == oconnectcmdCONNECT ? objcommCMD_ADDOBSERVER : objcommCMD_REMOVEOBSERVER;
    control.observerID = id_;
    control.d_skip = skip_;
    control.d_min = min_;
    control.d_max = max_;
    std::memcpy(control.subName, message.subName, sizeof(control.subName));
    OControlReplyMessage reply;
    reply.status = oFAIL;
    nutmeg::openr::Task* self = nutmeg::openr::current_task();
    if (self != nullptr && message.entry.oid == self->oid()) {
        self->call_own_entry(message.entry.selector, &control, &reply, sizeof(reply));
    } else {
        Call(message.entry.oid, message.entry.selector, &control, sizeof(control), &reply, sizeof(reply));
    }
    if (reply.status != oSUCCESS) return reply.status;
    if (control.command == objcommCMD_ADDOBSERVER) {
        subjects_.push_back(OSubjectInfo(reply.subjectID));
    } else {
        subjects_.remove_if([&reply](const OSubjectInfo& subject) { return subject == reply.subjectID; });
    }
    return oSUCCESS;
}

OStatus OObserver::NotifyHandler(const ONotifyMessage& message, ONotifyEvent* event) {
    event->SetSubjectInfo(OSubjectInfo(message.subjectID));
    event->SetNumOfData(message.numOfData);
    event->SetNumOfNotify(message.numOfNotify);
    for (int i = 0; i < message.numOfData; ++i) {
        RCRegion* region = new RCRegion(message.rcRegion[i]);
        received_.push_back(std::make_pair(message.subjectID, region));
        event->SetData(i, region);
    }
    return oSUCCESS;
}

SubjectID OObserver::FindSender(RCRegion* region) const {
    for (const auto& [sender, received] : received_) {
        if (received == region) return sender;
    }
    return SubjectID();
}

OStatus OObserver::SendReady(ObjcommCommand command) {
    OStatus status = oSUCCESS;
    for (const OSubjectInfo& subject : subjects_) status = std::max(status, SendReady(command, subject));
    return status;
}

OStatus OObserver::SendReady(ObjcommCommand command, const SubjectID& id) {
    OReadyMessage message;
    message.command = command;
    message.observerID = id_;
    message.numOfData = 0;
    for (auto at = received_.begin(); at != received_.end() && message.numOfData < MAX_NUM_DATA;) {
        const bool done_with = at->first == id && at->second->NumberOfReference() == 1;
        if (!done_with) {
            ++at;
            continue;
        }
        message.rcRegion[message.numOfData++] = at->second->source_;
        at->second->RemoveReference();
        at = received_.erase(at);
    }
    return Send(id.oid, id.selector, &message, sizeof(message)) == sSUCCESS ? oSUCCESS : oSEND_FAIL;
}
