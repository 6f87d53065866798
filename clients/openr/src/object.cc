// OObject: the lifecycle of a program.
#include <MCOOP.h>
#include <OPENR/OObject.h>
#include <OPENR/OSyslog.h>

#include "kernel.h"

OObject::OObject() { WhoAmI(&myOID_); }
OObject::~OObject() {}

namespace {
void report(const char* what, OStatus status) {
    if (status != oSUCCESS) osyslog(osyslogERROR, "%s returned status %u", what, status);
}
}  // namespace

void OObject::Init(const OSystemEvent& event) { report("DoInit", DoInit(event)); }
void OObject::Start(const OSystemEvent& event) { report("DoStart", DoStart(event)); }
void OObject::Stop(const OSystemEvent& event) { report("DoStop", DoStop(event)); }
void OObject::Destroy(const OSystemEvent& event) { report("DoDestroy", DoDestroy(event)); }

OStatus OObject::DoInit(const OSystemEvent&) { return oSUCCESS; }
OStatus OObject::DoStart(const OSystemEvent&) { return oSUCCESS; }
OStatus OObject::DoStop(const OSystemEvent&) { return oSUCCESS; }
OStatus OObject::DoDestroy(const OSystemEvent&) { return oSUCCESS; }

OStatus OObject::RegisterServiceEntry(const OServiceEntry& entry, const char* name) {
    nutmeg::openr::services().add(name, entry);
    return oSUCCESS;
}
