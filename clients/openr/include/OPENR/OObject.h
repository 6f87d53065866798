// What every program derives from: four functions the system calls at start and end.
#ifndef NUTMEG_OPENR_OOBJECT_H
#define NUTMEG_OPENR_OOBJECT_H

#include <OPENR/OPENR.h>
#include <OPENR/OPENREvent.h>

class OObject {
public:
    OObject();
    virtual ~OObject();

    void Init(const OSystemEvent& event);
    void Start(const OSystemEvent& event);
    void Stop(const OSystemEvent& event);
    void Destroy(const OSystemEvent& event);

    virtual OStatus DoInit(const OSystemEvent& event);
    virtual OStatus DoStart(const OSystemEvent& event);
    virtual OStatus DoStop(const OSystemEvent& event);
    virtual OStatus DoDestroy(const OSystemEvent& event);

protected:
    OID myOID_;
    OStatus RegisterServiceEntry(const OServiceEntry& entry, const char* name);

private:
    OObject(const OObject&);
    OObject& operator=(const OObject&);
};

#endif
