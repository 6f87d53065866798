// As core_macro.h, with the object part of every service name replaced by `myname`.
#ifndef NUTMEG_OPENR_CORE_MACRO2_H
#define NUTMEG_OPENR_CORE_MACRO2_H

#include <OPENR/core_macro.h>

#include <string>

#define NUTMEG_RENAMED(service) (std::string(myname) + strchr(service, '.')).c_str()

#undef REGISTER_ALL_ENTRY
#define REGISTER_ALL_ENTRY                                                                                        \
    {                                                                                                             \
        NUTMEG_FOR_EACH(                                                                                          \
            s_, numOfSubject,                                                                                     \
            RegisterServiceEntry(OServiceEntry(myOID_, Entry_Control[s_]), NUTMEG_RENAMED(subjectService[s_])));  \
        NUTMEG_FOR_EACH(                                                                                          \
            o_, numOfObserver,                                                                                    \
            RegisterServiceEntry(OServiceEntry(myOID_, Entry_Connect[o_]), NUTMEG_RENAMED(observerService[o_]))); \
    }

#endif
