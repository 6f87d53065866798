// Messages of the system to an object's entries.
#ifndef NUTMEG_OPENR_OPENRMESSAGES_H
#define NUTMEG_OPENR_OPENRMESSAGES_H

#include <OPENR/ODataFormats.h>
#include <OPENR/OPENR.h>
#include <OPENR/OPower.h>
#include <OPENR/OSyslog.h>
#include <SystemError.h>

typedef longword OMessageType;
const OMessageType omsgNULL = 0;
const OMessageType omsgREASON = 3;
const OMessageType omsgCONNECT = 6;
const OMessageType omsgPOWER_STATUS = 1030;

struct OReasonMessage {
    OMessageType msgType;
    OReason reason;
    size_t paramSize;
    byte param[oreasonPARAM_MAX_SIZE];

    OReasonMessage(OReason why) : msgType(omsgREASON), reason(why), paramSize(0) {}
};

struct OConnectMessage {
    OMessageType msgType;
    OConnectCmd command;
    OServiceEntry entry;
    char subName[oserviceNAME_MAX + 1];

    OConnectMessage(OConnectCmd what = oconnectcmdCONNECT) : msgType(omsgCONNECT), command(what) { subName[0] = 0; }
};

struct OPowerStatusMessage {
    OMessageType msgType;
    OPowerStatus powerStatus;

    OPowerStatusMessage() : msgType(omsgPOWER_STATUS) {}
    OPowerStatusMessage(const OPowerStatus& now) : msgType(omsgPOWER_STATUS), powerStatus(now) {}
};

#endif
