// Results of OPEN-R calls.
#ifndef NUTMEG_OPENR_OSTATUS_H
#define NUTMEG_OPENR_OSTATUS_H

#include <Types.h>

typedef longword OStatus;

const OStatus oSUCCESS = 0;
const OStatus oUNDEF = 1;
const OStatus oFAIL = 2;
const OStatus oNOT_SUPPORTED = 3;
const OStatus oINVALID_ARG = 4;
const OStatus oNO_MEMORY = 5;
const OStatus oNOT_FOUND = 6;
const OStatus oALREADY_EXIST = 7;
const OStatus oOPEN_FAILURE = 8;
const OStatus oCLOSE_FAILURE = 9;
const OStatus oFULL_OF_QUEUE = 10;
const OStatus oITEM_NOT_FOUND = 11;
const OStatus oWRONG_MESSAGE = 12;
const OStatus oSEND_FAIL = 13;
const OStatus oSEND_WITH_RBOX_FAIL = 14;
const OStatus oCALL_FAIL = 15;
const OStatus oREPLY_FAIL = 16;
const OStatus oRECEIVE_FAIL = 17;
const OStatus oNOT_INITIALIZED = 18;
const OStatus oREFUSED = 19;
const OStatus oSIZE_TOO_LARGE = 20;
const OStatus oNOT_AVAILABLE = 21;
const OStatus oUNKNOWN_DATA = 22;
const OStatus oUNKNOWN_COMMAND = 23;
const OStatus oOUT_OF_RANGE = 24;
const OStatus oOVERFLOW = 25;
const OStatus oUNDERFLOW = 26;
const OStatus oINVALID_OID = 27;
const OStatus oFATAL = 28;
const OStatus oOBJ_NOT_FOUND = 29;
const OStatus oSYNTAX_ERROR = 30;
const OStatus oNO_ROBOT_DESIGN = 31;
const OStatus oCHECK_SUM_ERROR = 32;
const OStatus oBUSY = 33;
const OStatus oINVALID_PRIMITIVE_ID = 4096;
const OStatus oINVALID_DATA_VECTOR_ID = 4097;
const OStatus oINVALID_DATA_TYPE = 4098;
const OStatus oINVALID_DATA = 4099;
const OStatus oINVALID_REQUEST = 4100;
const OStatus oALREADY_REGISTERED = 4101;
const OStatus oNOT_REGISTERED = 4102;
const OStatus oEXCEEDED_PARAM_SIZE = 4103;
const OStatus oINVALID_ASYNC_REQ_ID = 4104;
const OStatus oFULL_OF_ASYNC_QUEUE = 4105;
const OStatus oNO_SYNC_KEY = 4106;
const OStatus oINVALID_SYNC_KEY = 4107;
const OStatus oGAIN_DISABLED = 4108;
const OStatus oTOO_MANY_ODA = 4109;
const OStatus oDESIGNDATA_SIZE_ZERO = 4110;
const OStatus oCPC_PLUG_OUT = 4111;
const OStatus oMS_NOT_WRITABLE = 4112;
const OStatus oALERT_JOINT_UNCONTROLLABLE = 8192;

#endif
