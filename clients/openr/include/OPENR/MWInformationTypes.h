// Names of middleware information; carried for programs that include it.
#ifndef NUTMEG_OPENR_MWINFORMATION_TYPES_H
#define NUTMEG_OPENR_MWINFORMATION_TYPES_H

#include <Types.h>

typedef longword MWIID;
const MWIID mwiidINVALID = 0xffffffff;
typedef byte SensorType;
typedef byte AttachedParts;
typedef byte AttachedPosition;

#endif
