// A subject, as its observers know it.
#ifndef NUTMEG_OPENR_OSUBJECT_INFO_H
#define NUTMEG_OPENR_OSUBJECT_INFO_H

#include <OPENR/ObjcommTypes.h>

class OSubjectInfo : public SubjectID {
public:
    OSubjectInfo() {}
    OSubjectInfo(const SubjectID& id, ObjcommVersion = objcommVERSION_UNDEF) : SubjectID(id) {}
    const SubjectID& GetSubjectID() const { return *this; }
};

#endif
