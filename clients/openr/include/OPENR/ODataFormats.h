// The vectors that travel between programs and the robot: commands, sensors, images, sound, colour tables.
//
// Layouts are the robot's, to the byte: 4-byte fields where a 32-bit compiler had pointers or size_t. A vector is one
// block of memory: ODataVectorInfo, one info per primitive, then the data at each info's dataOffset.
#ifndef NUTMEG_OPENR_ODATA_FORMATS_H
#define NUTMEG_OPENR_ODATA_FORMATS_H

#include <OPENR/OPENR.h>
#include <OPENR/OUnits.h>

typedef longword ODataType;
const ODataType odataUNDEF = 0;
const ODataType odataNO_DIMENSION = 1;
const ODataType odataLENGTH = 2;
const ODataType odataMASS = 3;
const ODataType odataTIME = 4;
const ODataType odataDATE = 5;
const ODataType odataANGULAR = 6;
const ODataType odataVELOCITY = 7;
const ODataType odataFORCE = 8;
const ODataType odataACCELERATION = 9;
const ODataType odataANGULAR_VELOCITY = 10;
const ODataType odataTEMPERATURE = 11;
const ODataType odataPRESSURE = 12;
const ODataType odataPERCENTAGE = 13;
const ODataType odataSWITCH = 14;
const ODataType odataLED = 15;
const ODataType odataSOUND = 16;
const ODataType odataIMAGE = 17;
const ODataType odataJOINT_VALUE = 18;
const ODataType odataFBK_YCrCb = 19;
const ODataType odataFBK_CDT = 20;
const ODataType odataCDT = 21;
const ODataType odataPRIMITIVE_INFO = 22;
const ODataType odataCPC_INFO = 23;
const ODataType odataFBK_YCrCb_HPF = 24;
const ODataType odataJOINT_COMMAND = 256;
const ODataType odataCAMERA_COMMAND = 257;
const ODataType odataLED_COMMAND = 258;
const ODataType odataJOINT_COMMAND2 = 259;
const ODataType odataLED_COMMAND2 = 260;
const ODataType odataJOINT_COMMAND3 = 261;
const ODataType odataJOINT_COMMAND4 = 262;
const ODataType odataLED_COMMAND3 = 263;
const ODataType odataCOMMAND_VECTOR = 1024;
const ODataType odataSENSOR_FRAME_VECTOR = 1025;
const ODataType odataSOUND_VECTOR = 1026;
const ODataType odataFBKIMAGE_VECTOR = 1027;
const ODataType odataCDT_VECTOR = 1028;
const ODataType odataPRIMITIVE_MAP = 1029;
const ODataType odataDONT_CARE = 0xffffffff;

typedef longword OSwitchValue;
const OSwitchValue oswitchOFF = 0;
const OSwitchValue oswitchON = 1;

typedef longword OLEDValue;
const OLEDValue oledOFF = 0;
const OLEDValue oledON = 1;

typedef word OLED3Mode;
const OLED3Mode oled3_MODE_UNDEF = 0xffff;
const OLED3Mode oled3_MODE_A = 0;
const OLED3Mode oled3_MODE_B = 1;

typedef longword OJointValue3;
const OJointValue3 ojoint3_STATE_UNDEF = 0xffffffff;
const OJointValue3 ojoint3_STATE0 = 0;
const OJointValue3 ojoint3_STATE1 = 1;

typedef longword OJointValue4;
const OJointValue4 ojoint4_STATE_UNDEF = 0xffffffff;
const OJointValue4 ojoint4_STATE0 = 0;
const OJointValue4 ojoint4_STATE1 = 1;

const size_t odataOPTIONAL_MAX = 128;

struct ODataVectorInfo {
    MemoryRegionID memRegionID;
    longword physAddr;
    longword offset;
    longword totalSize;
    ODataType type;
    longword infoOffset;
    longword infoSize;
    longword maxNumData;
    longword numData;
    OVRSyncKey syncKey;
    longword wait;
    longword optOffset;
    longword optSize;
    longword padding[3];
    byte optional[odataOPTIONAL_MAX];
};

// What follows the header of a vector: an info for each of its data, then the data, where the infos say.
template <class Info, class Data>
struct OVectorData {
    ODataVectorInfo vectorInfo;
    Info info[1];

    void SetNumData(size_t count) { vectorInfo.numData = static_cast<longword>(count); }
    Info* GetInfo(int index) { return info + index; }
    Data* GetData(int index) {
        return reinterpret_cast<Data*>(reinterpret_cast<byte*>(this) + GetInfo(index)->dataOffset);
    }
};

// The frames of one primitive.
struct OFrameInfo {
    ODataType type;
    OPrimitiveID primitiveID;
    longword frameNumber;
    longword numFrames;
    longword frameSize;
    longword dataOffset;
    longword dataSize;
    longword padding[1];

    void Set(ODataType dataType, OPrimitiveID primitive, size_t frames) {
        type = dataType;
        primitiveID = primitive;
        numFrames = static_cast<longword>(frames);
    }
};

// ---- commands ----

const size_t ocommandMAX_FRAMES = 16;

struct OCommandValue {
    slongword value[2];
};

struct OJointCommandValue {
    slongword value;
    byte p, i, d;
    byte padding;

    void Set(slongword angle, byte kp, byte ki, byte kd) {
        value = angle;
        p = kp;
        i = ki;
        d = kd;
    }
};

struct OJointCommandValue2 {
    slongword value;
    slongword padding;
};

struct OJointCommandValue3 {
    OJointValue3 value;
    word reserved;
    word padding;
};

struct OJointCommandValue4 {
    OJointValue4 value;
    word period;
    word reserved;
};

struct OLEDCommandValue {
    OLEDValue led;
    word period;
    word padding;
};

struct OLEDCommandValue2 {
    OLEDValue led;
    word period;
    word reserved;
};

struct OLEDCommandValue3 {
    sword intensity;
    OLED3Mode mode;
    word period;
    word reserved;
};

struct OCommandInfo : OFrameInfo {};

struct OCommandData {
    OCommandValue value[ocommandMAX_FRAMES];
};

struct OCommandVectorData : OVectorData<OCommandInfo, OCommandData> {};

// ---- sensors ----

const size_t osensorframeMAX_FRAMES = 16;
const word osensorframeINVALID_SIGNAL = 0xffff;
const slongword opsdINVALID_VALUE = 0;

struct OSensorValue {
    slongword value;
    word signal;
    word padding[5];
};

typedef OSensorValue OAcceleration;
typedef OSensorValue OAngularVelocity;
typedef OSensorValue OTemperature;
typedef OSensorValue OForce;
typedef OSensorValue OPressure;
typedef OSensorValue OLength;

struct OSwitchStatus {
    OSwitchValue value;
    word signal;
    word padding[5];
};

struct OJointValue {
    slongword value;
    word signal;
    sword pwmDuty;
    slongword refValue;
    word refSignal;
    word padding[1];

    OJointValue() {}
    OJointValue(slongword angle, word raw, sword duty, slongword reference, word rawReference)
        : value(angle), signal(raw), pwmDuty(duty), refValue(reference), refSignal(rawReference) {}
};

struct OSensorFrameInfo : OFrameInfo {};

struct OSensorFrameData {
    OSensorValue frame[osensorframeMAX_FRAMES];
};

struct OSensorFrameVectorData : OVectorData<OSensorFrameInfo, OSensorFrameData> {};

// ---- sound ----

typedef word OSoundFormat;
const OSoundFormat osoundformatUNDEF = 0;
const OSoundFormat osoundformatPCM = 1;
const OSoundFormat osoundformatUSB_MIDI = 2;
const OSoundFormat osoundformatSMF = 3;

typedef word OSoundChannel;
const OSoundChannel osoundchannelUNDEF = 0;
const OSoundChannel osoundchannelMONO = 1;
const OSoundChannel osoundchannelSTEREO = 2;

struct OSoundInfo {
    ODataType type;
    OPrimitiveID primitiveID;
    longword frameNumber;
    longword frameSize;
    longword dataOffset;
    longword maxDataSize;
    longword dataSize;
    OSoundFormat format;
    OSoundChannel channel;
    word samplingRate;
    word bitsPerSample;
    longword actualDataSize;
    longword padding[6];

    void Set(ODataType dataType, OPrimitiveID primitive, size_t size) {
        type = dataType;
        primitiveID = primitive;
        dataSize = static_cast<longword>(size);
    }
};

struct OSoundSampleStereo16 {
    sword L;
    sword R;
};

struct OSoundVectorData : OVectorData<OSoundInfo, byte> {};

// ---- images ----

struct OFbkImageInfo {
    ODataType type;
    OPrimitiveID primitiveID;
    longword frameNumber;
    longword dataOffset;
    longword dataSize;
    longword width;
    longword height;
    longword padding[1];
};

struct OFbkImageVectorData : OVectorData<OFbkImageInfo, byte> {
    void SetPrimitiveID(OPrimitiveID primitive) {
        for (longword i = 0; i < vectorInfo.numData; ++i) GetInfo(static_cast<int>(i))->primitiveID = primitive;
    }
};

typedef int OFbkImageLayer;
const OFbkImageLayer ofbkimageLAYER_H = 0;
const OFbkImageLayer ofbkimageLAYER_M = 1;
const OFbkImageLayer ofbkimageLAYER_L = 2;
const OFbkImageLayer ofbkimageLAYER_C = 3;

// ---- colour detection tables ----

const int ocdtNUM_CHANNELS = 8;
typedef longword OCdtChannel;
const OCdtChannel ocdtCHANNEL_UNDEF = 0x00;
const OCdtChannel ocdtCHANNEL0 = 0x01;
const OCdtChannel ocdtCHANNEL1 = 0x02;
const OCdtChannel ocdtCHANNEL2 = 0x04;
const OCdtChannel ocdtCHANNEL3 = 0x08;
const OCdtChannel ocdtCHANNEL4 = 0x10;
const OCdtChannel ocdtCHANNEL5 = 0x20;
const OCdtChannel ocdtCHANNEL6 = 0x40;
const OCdtChannel ocdtCHANNEL7 = 0x80;

const int ocdtMAX_Y_SEGMENT = 32;
const longword ocdtINIT = 0x80808080;
const longword ocdtCr_MIN_MASK = 0x000000ff;
const longword ocdtCr_MAX_MASK = 0x0000ff00;
const longword ocdtCb_MIN_MASK = 0x00ff0000;
const longword ocdtCb_MAX_MASK = 0xff000000;

// For each of 32 brightness bands, the box of chroma that counts as this channel's colour.
struct OCdtInfo {
    ODataType type;
    OPrimitiveID primitiveID;
    OCdtChannel channel;
    longword table[ocdtMAX_Y_SEGMENT];
    longword padding;

    void Init(OPrimitiveID primitive, OCdtChannel which) {
        type = odataCDT;
        primitiveID = primitive;
        channel = which;
        for (int band = 0; band < ocdtMAX_Y_SEGMENT; ++band) table[band] = ocdtINIT;
    }
    void Set(int band, byte crMax, byte crMin, byte cbMax, byte cbMin) {
        table[band] = static_cast<longword>(cbMax) << 24 | static_cast<longword>(cbMin) << 16 |
                      static_cast<longword>(crMax) << 8 | static_cast<longword>(crMin);
    }
};

struct OCdtVectorData {
    ODataVectorInfo vectorInfo;
    OCdtInfo info[ocdtNUM_CHANNELS];

    void SetNumData(size_t count) { vectorInfo.numData = static_cast<longword>(count); }
    OCdtInfo* GetInfo(int index) { return info + index; }
};

struct OPrimitiveInfo {
    ODataType type;
    OPrimitiveID primitiveID;
    OPrimitiveType primitiveType;
    OSensorType sensorType;
    OStatus primitiveStatus;
    longword padding[3];
    char locator[ovrPATH_MAX + 1];
};

#endif
