// Results of the containers (OList).
#ifndef NUTMEG_OPENR_OTLSTATUS_H
#define NUTMEG_OPENR_OTLSTATUS_H

typedef int OTLStatus;
const OTLStatus otlSUCCESS = 0;
const OTLStatus otlOVERFLOW = 1;
const OTLStatus otlUNDERFLOW = 2;
const OTLStatus otlFAIL = 3;
const OTLStatus otlNOMEMORY = 4;

#endif
