// Results of the operating-system calls in MCOOP.h.
#ifndef NUTMEG_OPENR_SYSTEM_ERROR_H
#define NUTMEG_OPENR_SYSTEM_ERROR_H

#include <Types.h>

#define sSUCCESS 0
#define sUNDEF 1
#define sFAIL 2
#define sNOTSUPPORTED 3
#define sNOTENOUGHRES 4
#define sINVALIDARG 5
#define sNOMEMORY 6
#define sINVALIDOID 7

#endif
