// Names that every OPEN-R program knows: entries, reasons, primitives, service entries.
#ifndef NUTMEG_OPENR_OPENR_H
#define NUTMEG_OPENR_OPENR_H

#include <OID.h>
#include <OPENR/OStatus.h>
#include <Types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const Selector oentryINIT = 0;
const Selector oentrySTART = 1;
const Selector oentrySTOP = 2;
const Selector oentryDESTROY = 3;
const Selector oentryBASE = 4;

typedef longword OReason;
const OReason oreasonUNDEF = 0xffffffff;
const OReason oreasonBOOT = 0;
const OReason oreasonSHUTDOWN = 1;
const int oreasonPARAM_MAX_SIZE = 128;

typedef longword OMemoryStickStatus;
const OMemoryStickStatus omemorystickUNDEF = 0xffffffff;
const OMemoryStickStatus omemorystickNOT_EXIST = 0;
const OMemoryStickStatus omemorystickWRITE_PROTECTED = 1;
const OMemoryStickStatus omemorystickWRITABLE = 2;

typedef longword OFatal;
const OFatal ofatalUNDEF = 0xffffffff;
const OFatal ofatalMEMORY_STICK = 0;
const OFatal ofatalPAUSE_SW = 1;
const OFatal ofatalORB = 2;

typedef longword OConnectCmd;
const OConnectCmd oconnectcmdCONNECT = 0;
const OConnectCmd oconnectcmdDISCONNECT = 1;
const OConnectCmd oconnectcmdDISCONNECTALL = 2;

// One entry point of one object: where a message goes.
struct OServiceEntry {
    OID oid;
    Selector selector;

    OServiceEntry() : selector(UNDEF) {}
    OServiceEntry(OID o, Selector s) : oid(o), selector(s) {}

    void Set(OID o, Selector s) {
        oid = o;
        selector = s;
    }
    OID GetOID() const { return oid; }
    Selector GetSelector() const { return selector; }
    bool IsValid() const { return oid.IsValid() && selector != UNDEF; }
    void MakeInvalid() {
        oid.MakeInvalid();
        selector = UNDEF;
    }
};

inline bool operator==(const OServiceEntry& a, const OServiceEntry& b) {
    return a.oid == b.oid && a.selector == b.selector;
}
inline bool operator!=(const OServiceEntry& a, const OServiceEntry& b) { return !(a == b); }
inline bool operator<(const OServiceEntry& a, const OServiceEntry& b) {
    return a.oid == b.oid ? a.selector < b.selector : a.oid < b.oid;
}

const int oserviceNAME_MAX = 127;
const int oobjectNAME_MAX = 63;
const int ovrNAME_MAX = 31;
const int ovrPATH_MAX = 127;
const int orobotdesignNAME_MAX = 31;
const int odesignkeywordNAME_MAX = 127;
#define odesignkeywordCPUINFO "SYS_CPUINFO"

struct OCPUInfo {
    longword sclk;
    longword pclk;
    longword processorID;
    byte reserved[244];
};

const longword oframeMAX_NUMBER = 0x0ffffff0;
const longword oframeINVALID_NUMBER = 0xffffffff;

typedef longword OPrimitiveID;
const OPrimitiveID oprimitiveID_UNDEF = 0xffffffff;

typedef longword OPrimitiveType;
const OPrimitiveType oprimitiveUNDEF = 0;
const OPrimitiveType oprimitiveCOORDINATE = 1;
const OPrimitiveType oprimitiveRECEPTOR = 2;
const OPrimitiveType oprimitivePLUG = 3;
const OPrimitiveType oprimitiveLINK = 4;
const OPrimitiveType oprimitiveJOINT = 5;
const OPrimitiveType oprimitiveSENSOR = 6;
const OPrimitiveType oprimitiveSPEAKER = 7;
const OPrimitiveType oprimitiveMIC = 8;
const OPrimitiveType oprimitiveFBKIMAGESENSOR = 9;
const OPrimitiveType oprimitiveLED = 10;
const OPrimitiveType oprimitiveJOINT2 = 11;
const OPrimitiveType oprimitiveLED2 = 12;
const OPrimitiveType oprimitiveJOINT3 = 13;
const OPrimitiveType oprimitiveJOINT4 = 14;
const OPrimitiveType oprimitiveBLUETOOTH = 15;
const OPrimitiveType oprimitiveLED3 = 16;

typedef longword OSensorType;
const OSensorType osensorUNDEF = 0;
const OSensorType osensorSWITCH = 1;
const OSensorType osensorACCELEROMETER = 2;
const OSensorType osensorGYROMETER = 3;
const OSensorType osensorTACTILE_SENSOR = 4;
const OSensorType osensorTHERMOMETER = 5;
const OSensorType osensorPSD = 6;

typedef longword OVRSyncKey;
const OVRSyncKey ovrsynckeyUNDEF = 0xffffffff;
const size_t ovrsynckeyMAX_NUM_KEY = 8;
const size_t ovrsynckeyMAX_NUM_DIVISION = 16;

typedef longword OPrimitiveRequest;
const OPrimitiveRequest oprmreqUNDEF = 0xffffffff;

typedef longword ODesignDataID;
const ODesignDataID odesigndataID_UNDEF = 0xffffffff;

typedef byte OVolumeSwitch;
const OVolumeSwitch ovolumeSW0 = 0;
const OVolumeSwitch ovolumeSW1 = 1;
const OVolumeSwitch ovolumeSW2 = 2;
const OVolumeSwitch ovolumeSW3 = 3;

#endif
