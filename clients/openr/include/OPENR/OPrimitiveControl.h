// Requests to single primitives (OPENR::ControlPrimitive) and their parameters.
#ifndef NUTMEG_OPENR_OPRIMITIVE_CONTROL_H
#define NUTMEG_OPENR_OPRIMITIVE_CONTROL_H

#include <OPENR/ODataFormats.h>
#include <OPENR/OPENR.h>

const OPrimitiveRequest oprmreqSPEAKER_MUTE_ON = 128;
const OPrimitiveRequest oprmreqSPEAKER_MUTE_OFF = 129;
const OPrimitiveRequest oprmreqSPEAKER_SET_VOLUME = 130;
const OPrimitiveRequest oprmreqSPEAKER_SET_SOUND_TYPE = 131;
const OPrimitiveRequest oprmreqSPEAKER_GET_SOUND_TYPE = 132;
const OPrimitiveRequest oprmreqSPEAKER_SET_VOLUME_MIDI = 133;
const OPrimitiveRequest oprmreqSPEAKER_MASTER_TUNING_MIDI = 134;
const OPrimitiveRequest oprmreqMIC_UNI = 256;
const OPrimitiveRequest oprmreqMIC_OMNI = 257;
const OPrimitiveRequest oprmreqMIC_ALC_ON = 258;
const OPrimitiveRequest oprmreqMIC_ALC_OFF = 259;
const OPrimitiveRequest oprmreqCAM_SET_WHITE_BALANCE = 384;
const OPrimitiveRequest oprmreqCAM_SET_GAIN = 385;
const OPrimitiveRequest oprmreqCAM_SET_SHUTTER_SPEED = 386;
const OPrimitiveRequest oprmreqCAM_GET_CDT_TABLE = 387;
const OPrimitiveRequest oprmreqCAM_AE_ON = 388;
const OPrimitiveRequest oprmreqCAM_AE_OFF = 389;
const OPrimitiveRequest oprmreqCAM_AWB_ON = 390;
const OPrimitiveRequest oprmreqCAM_AWB_OFF = 391;
const OPrimitiveRequest oprmreqJOINT2_SET_COMMAND = 640;
const OPrimitiveRequest oprmreqJOINT2_GET_VALUE = 641;
const OPrimitiveRequest oprmreqLED2_SET_COMMAND = 768;
const OPrimitiveRequest oprmreqLED3_SET_COMMAND = 1024;
const OPrimitiveRequest oprmreqJOINT4_SET_COMMAND = 1152;

typedef longword OSpeakerSoundType;
const OSpeakerSoundType ospksndMONO8K8B = 0;
const OSpeakerSoundType ospksndMONO11K8B = 1;
const OSpeakerSoundType ospksndMONO16K8B = 2;
const OSpeakerSoundType ospksndMONO16K16B = 3;
const OSpeakerSoundType ospksndSTEREO16K16B = 4;

typedef longword OSpeakerVolume;
const OSpeakerVolume ospkvolinfdB = 0x8000;
const OSpeakerVolume ospkvol25dB = 0xe700;
const OSpeakerVolume ospkvol18dB = 0xee00;
const OSpeakerVolume ospkvol10dB = 0xf600;

struct OPrimitiveControl_SpeakerVolume {
    longword volume;
    OPrimitiveControl_SpeakerVolume(longword level) : volume(level) {}
};

struct OPrimitiveControl_SpeakerSoundType {
    OSpeakerSoundType type;
    OPrimitiveControl_SpeakerSoundType(OSpeakerSoundType kind = ospksndMONO8K8B) : type(kind) {}
};

struct OPrimitiveControl_MasterTuningMIDI {
    sword value;
    OPrimitiveControl_MasterTuningMIDI(sword cents) : value(cents) {}
};

const longword ocamparamUNDEF = 0;
const longword ocamparamWB_INDOOR_MODE = 1;
const longword ocamparamWB_OUTDOOR_MODE = 2;
const longword ocamparamWB_FL_MODE = 3;
const longword ocamparamGAIN_LOW = 1;
const longword ocamparamGAIN_MID = 2;
const longword ocamparamGAIN_HIGH = 3;
const longword ocamparamSHUTTER_SLOW = 1;
const longword ocamparamSHUTTER_MID = 2;
const longword ocamparamSHUTTER_FAST = 3;

struct OPrimitiveControl_CameraParam {
    longword camparam;
    OPrimitiveControl_CameraParam(longword setting = ocamparamUNDEF) : camparam(setting) {}
};

struct OPrimitiveControl_JointCommandValue2 {
    OJointCommandValue2 command;
    OPrimitiveControl_JointCommandValue2(slongword angle) {
        command.value = angle;
        command.padding = 0;
    }
};

struct OPrimitiveControl_JointValue {
    OJointValue jval;
};

struct OPrimitiveControl_LEDCommandValue2 {
    OLEDCommandValue2 command;
    OPrimitiveControl_LEDCommandValue2(OLEDValue state) {
        command.led = state;
        command.period = 0;
        command.reserved = 0;
    }
};

struct OPrimitiveControl_LEDCommandValue3 {
    OLEDCommandValue3 command;
    OPrimitiveControl_LEDCommandValue3(sword brightness, OLED3Mode mode) {
        command.intensity = brightness;
        command.mode = mode;
        command.period = 0;
        command.reserved = 0;
    }
};

struct OPrimitiveControl_JointCommandValue4 {
    OJointCommandValue4 command;
    OPrimitiveControl_JointCommandValue4(OJointValue4 state) {
        command.value = state;
        command.period = 1;
        command.reserved = 0;
    }
};

#endif
