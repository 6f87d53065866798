// The receiving end of a service. It says READY when it wants data; with READY the regions it has done with go back.
#ifndef NUTMEG_OPENR_OOBSERVER_H
#define NUTMEG_OPENR_OOBSERVER_H

#include <OPENR/OPENR.h>
#include <OPENR/OSubjectInfo.h>
#include <OPENR/ObjcommEvent.h>
#include <OPENR/ObjcommMessages.h>
#include <OPENR/ObjcommTypes.h>

#include <list>
#include <utility>

typedef std::list<OSubjectInfo>::iterator SubjectIterator;
typedef std::list<OSubjectInfo>::const_iterator SubjectConstIterator;

class OObserver {
public:
    OObserver();
    virtual ~OObserver();

    OStatus SetNotifyEntry(const OServiceEntry& entry);
    void SetSkip(size_t skip) { skip_ = skip; }
    void SetBufCtrlParam(size_t skip, size_t min, size_t max) {
        skip_ = skip;
        min_ = min;
        max_ = max;
    }

    OStatus AssertReady() { return SendReady(objcommCMD_ASSERT_READY); }
    OStatus DeassertReady() { return SendReady(objcommCMD_DEASSERT_READY); }
    OStatus AssertReady(const SubjectID& id) { return SendReady(objcommCMD_ASSERT_READY, id); }
    OStatus DeassertReady(const SubjectID& id) { return SendReady(objcommCMD_DEASSERT_READY, id); }

    int NumberOfSubjects() const { return static_cast<int>(subjects_.size()); }
    SubjectConstIterator begin() const { return subjects_.begin(); }
    SubjectConstIterator end() const { return subjects_.end(); }
    SubjectID FindSender(RCRegion* region) const;
    const ObserverID& GetID() const { return id_; }
    const ObserverID& GetObserverID() const { return id_; }

    // Called by the generated stub.
    OStatus ConnectHandler(const OConnectMessage& message, OStatus status = oSUCCESS);
    OStatus NotifyHandler(const ONotifyMessage& message, ONotifyEvent* event);

private:
    OObserver(const OObserver&);
    OObserver& operator=(const OObserver&);
    OStatus SendReady(ObjcommCommand command);
    OStatus SendReady(ObjcommCommand command, const SubjectID& id);

    typedef std::list<std::pair<SubjectID, RCRegion*> > Received;

    ObserverID id_;
    size_t skip_;
    size_t min_;
    size_t max_;
    std::list<OSubjectInfo> subjects_;
    Received received_;
};

#endif
