// Subjects, observers and the commands between them.
#ifndef NUTMEG_OPENR_OBJCOMM_TYPES_H
#define NUTMEG_OPENR_OBJCOMM_TYPES_H

#include <OPENR/OPENR.h>

#include <iostream>
#include <list>

// OPEN-R programs use these names without std:: in front of them.
using std::cout;
using std::endl;
using std::list;
using std::ostream;

typedef OServiceEntry SubjectID;
typedef OServiceEntry ObserverID;

inline SubjectID ENTRY2SUBJECTID(const OServiceEntry& entry) { return entry; }
inline ObserverID ENTRY2OBSERVERID(const OServiceEntry& entry) { return entry; }
ostream& operator<<(ostream& out, const OServiceEntry& entry);

typedef int ObjcommCommand;
const ObjcommCommand objcommCMD_UNDEF = 0;
const ObjcommCommand objcommCMD_ADDOBSERVER = 1;
const ObjcommCommand objcommCMD_REMOVEOBSERVER = 2;
const ObjcommCommand objcommCMD_ASSERT_READY = 3;
const ObjcommCommand objcommCMD_DEASSERT_READY = 4;

typedef unsigned int ObjcommVersion;
const ObjcommVersion objcommVERSION_UNDEF = 0xffffffff;

#endif
