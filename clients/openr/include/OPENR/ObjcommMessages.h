// Messages between subjects and observers.
#ifndef NUTMEG_OPENR_OBJCOMM_MESSAGES_H
#define NUTMEG_OPENR_OBJCOMM_MESSAGES_H

#include <OPENR/OMemoryLocator.h>
#include <OPENR/OPENRMessages.h>
#include <OPENR/ObjcommTypes.h>
#include <OPENR/RCRegion.h>

#define MAX_NUM_DATA 13

// An observer asks a subject to serve it (or to stop).
struct OControlMessage {
    ObjcommCommand command;
    ObserverID observerID;
    size_t d_skip;
    size_t d_min;
    size_t d_max;
    char subName[oserviceNAME_MAX + 1];
};

// The subject's answer: where READY messages go.
struct OControlReplyMessage {
    OStatus status;
    SubjectID subjectID;
};

// An observer is ready, or no longer; with it go back the regions it has done with.
struct OReadyMessage {
    ObjcommCommand command;
    ObserverID observerID;
    int numOfData;
    RCRegion* rcRegion[MAX_NUM_DATA];
};

struct ONotifyMessage {
    SubjectID subjectID;
    int numOfData;
    int numOfNotify;
    RCRegion* rcRegion[MAX_NUM_DATA];
};

#endif
