// The lines that every DoInit, DoStart, DoStop and DoDestroy starts with; entry.h comes from stubgen.
#ifndef NUTMEG_OPENR_CORE_MACRO_H
#define NUTMEG_OPENR_CORE_MACRO_H

#include <OPENR/OPENR.h>

#include "entry.h"

#define NUTMEG_FOR_EACH(index, count, action)           \
    do {                                                \
        for (int index = 0; index < (count); ++index) { \
            action;                                     \
        }                                               \
    } while (0)

#define NEW_ALL_SUBJECT_AND_OBSERVER                                      \
    {                                                                     \
        NUTMEG_FOR_EACH(s_, numOfSubject, subject[s_] = new OSubject);    \
        NUTMEG_FOR_EACH(o_, numOfObserver, observer[o_] = new OObserver); \
    }

#define REGISTER_ALL_ENTRY                                                                                    \
    {                                                                                                         \
        NUTMEG_FOR_EACH(s_, numOfSubject,                                                                     \
                        RegisterServiceEntry(OServiceEntry(myOID_, Entry_Control[s_]), subjectService[s_]));  \
        NUTMEG_FOR_EACH(o_, numOfObserver,                                                                    \
                        RegisterServiceEntry(OServiceEntry(myOID_, Entry_Connect[o_]), observerService[o_])); \
    }

#define SET_ALL_READY_AND_NOTIFY_ENTRY                                                                             \
    {                                                                                                              \
        NUTMEG_FOR_EACH(s_, numOfSubject, subject[s_]->SetReadyEntry(OServiceEntry(myOID_, Entry_Ready[s_])));     \
        NUTMEG_FOR_EACH(o_, numOfObserver, observer[o_]->SetNotifyEntry(OServiceEntry(myOID_, Entry_Notify[o_]))); \
    }

#define ENABLE_ALL_SUBJECT
#define DISABLE_ALL_SUBJECT                                            \
    {                                                                  \
        NUTMEG_FOR_EACH(s_, numOfSubject, subject[s_]->ClearBuffer()); \
    }

#define ASSERT_READY_TO_ALL_OBSERVER                                     \
    {                                                                    \
        NUTMEG_FOR_EACH(o_, numOfObserver, observer[o_]->AssertReady()); \
    }
#define DEASSERT_READY_TO_ALL_OBSERVER                                     \
    {                                                                      \
        NUTMEG_FOR_EACH(o_, numOfObserver, observer[o_]->DeassertReady()); \
    }
#define ASSERT_TO_ALL_OBSERVER ASSERT_READY_TO_ALL_OBSERVER
#define DEASSERT_TO_ALL_OBSERVER DEASSERT_READY_TO_ALL_OBSERVER

// Subjects and observers live as long as the process: messages to them may still be under way.
#define DELETE_ALL_SUBJECT_AND_OBSERVER

#define NewComData NEW_ALL_SUBJECT_AND_OBSERVER
#define DeleteComData DELETE_ALL_SUBJECT_AND_OBSERVER
#define SetComData REGISTER_ALL_ENTRY SET_ALL_READY_AND_NOTIFY_ENTRY

#endif
