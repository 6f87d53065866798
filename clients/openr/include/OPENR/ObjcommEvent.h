// What a program's functions are told when subjects and observers connect, get ready or notify.
#ifndef NUTMEG_OPENR_OBJCOMM_EVENT_H
#define NUTMEG_OPENR_OBJCOMM_EVENT_H

#include <OPENR/OSubjectInfo.h>
#include <OPENR/ObjcommMessages.h>
#include <OPENR/ObjcommTypes.h>

class OConnectEvent {
public:
    OConnectEvent(int index, const char* name, OConnectCmd command) : index_(index), name_(name), command_(command) {}
    int ObsIndex() const { return index_; }
    const char* SubName() const { return name_; }
    bool IsConnect() const { return command_ == oconnectcmdCONNECT; }
    bool IsDisconnect() const { return command_ != oconnectcmdCONNECT; }

private:
    int index_;
    const char* name_;
    OConnectCmd command_;
};

class OControlEvent {
public:
    OControlEvent(int index, const ObserverID& id, const char* name, ObjcommCommand command)
        : index_(index), id_(id), name_(name), command_(command) {}
    int SbjIndex() const { return index_; }
    const char* SubName() const { return name_; }
    bool IsAddObserver() const { return command_ == objcommCMD_ADDOBSERVER; }
    bool IsRemoveObserver() const { return command_ == objcommCMD_REMOVEOBSERVER; }
    const ObserverID& SenderID() const { return id_; }

private:
    int index_;
    ObserverID id_;
    const char* name_;
    ObjcommCommand command_;
};

class OReadyEvent {
public:
    OReadyEvent(int index, const ObserverID& id, ObjcommCommand command) : index_(index), id_(id), command_(command) {}
    int SbjIndex() const { return index_; }
    const ObserverID& SenderID() const { return id_; }
    bool IsAssert() const { return command_ == objcommCMD_ASSERT_READY; }
    bool IsDeassert() const { return command_ == objcommCMD_DEASSERT_READY; }

private:
    int index_;
    ObserverID id_;
    ObjcommCommand command_;
};

class ONotifyEvent {
public:
    ONotifyEvent() : index_(0), count_(0), notifies_(0) {}
    int ObsIndex() const { return index_; }
    const OSubjectInfo& SenderID() const { return sender_; }
    int NumOfData() const { return count_; }
    int NumOfNotify() const { return notifies_; }
    const void* Data(int i) const { return i >= 0 && i < count_ ? regions_[i]->Base() : 0; }
    const void** Data() const {
        for (int i = 0; i < count_; ++i) bases_[i] = regions_[i]->Base();
        return bases_;
    }
    RCRegion* RCData(int i) const { return i >= 0 && i < count_ ? regions_[i] : 0; }

    void SetIndex(int index) { index_ = index; }
    void SetSubjectInfo(const OSubjectInfo& sender) { sender_ = sender; }
    void SetNumOfData(int count) { count_ = count; }
    void SetNumOfNotify(int count) { notifies_ = count; }
    void SetData(int i, RCRegion* region) { regions_[i] = region; }

private:
    int index_;
    OSubjectInfo sender_;
    int count_;
    int notifies_;
    RCRegion* regions_[MAX_NUM_DATA];
    mutable const void* bases_[MAX_NUM_DATA];
};

#endif
