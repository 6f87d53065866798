// OPENRAPI.h: primitives, vectors, joints, power, design data.
#include <OPENR/OPENRAPI.h>
#include <OPENR/OSyslog.h>

#include <atomic>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "image_layers.h"
#include "kernel.h"
#include "power.h"
#include "robot_link.h"
#include "virtual_audio.h"

using nutmeg::openr::Primitive;
using nutmeg::openr::robot_link;

namespace {

struct Gains {
    bool enabled = false;
    word now[6] = {};
    word standard[6] = {};
};

std::mutex state_mutex;
std::map<OPrimitiveID, Gains> joints;
std::map<ODesignDataID, std::vector<char>> design_data;
ODesignDataID next_design_data = 1;
std::atomic<long> clock_offset{0};

const word NO_GAINS[6] = {};
// Of the robots' processors [Hz], as published; that of the bus was not.
const longword PROCESSOR_7 = 576000000;
const longword PROCESSOR_210 = 192000000;

const char* const DESIGN_FILE = "/MS/OPEN-R/MW/CONF/DESIGNDB.CFG";

// Only called with state_mutex held. A joint that is not a Joint2 has no gains.
Gains* gains_of(OPrimitiveID id) {
    const Primitive* primitive = robot_link().find(id);
    if (primitive == nullptr || primitive->kind != nutmeg::openr::KIND_JOINT2) return nullptr;
    const auto [at, added] = joints.try_emplace(id);
    if (added) std::memcpy(at->second.standard, primitive->gains, sizeof(primitive->gains));
    return &at->second;
}

void tell(const word gains[6], word* pg, word* ig, word* dg, word* ps, word* is, word* ds) {
    word* const where[6] = {pg, ig, dg, ps, is, ds};
    for (int i = 0; i < 6; ++i) *where[i] = gains[i];
}

// The file that DESIGNDB.CFG names for a keyword, in the section [MODEL] of this robot or above all sections.
std::string design_path(const std::string& keyword) {
    std::ifstream list(DESIGN_FILE);
    std::string line;
    std::string section;
    while (std::getline(list, line)) {
        std::istringstream words(line);
        std::string name;
        std::string path;
        if (!(words >> name)) continue;
        if (name.front() == '[') {
            section = name.substr(1, name.find(']') - 1);
        } else if (name == keyword && words >> path && (section.empty() || section == robot_link().design().name)) {
            return path;
        }
    }
    return "";
}

template <class Vector, class Info>
OStatus new_vector(ODataType type, size_t count, size_t dataSize, MemoryRegionID* region, Vector** vector) {
    if (count == 0) return oINVALID_ARG;
    const size_t data = sizeof(ODataVectorInfo) + count * sizeof(Info);
    void* base = nullptr;
    *region = nutmeg::openr::new_region(data + count * dataSize, &base);
    *vector = static_cast<Vector*>(base);
    ODataVectorInfo& head = (*vector)->vectorInfo;
    head.memRegionID = *region;
    head.totalSize = static_cast<longword>(data + count * dataSize);
    head.type = type;
    head.infoOffset = sizeof(ODataVectorInfo);
    head.infoSize = sizeof(Info);
    head.maxNumData = static_cast<longword>(count);
    head.syncKey = ovrsynckeyUNDEF;
    for (size_t i = 0; i < count; ++i) {
        Info* info = reinterpret_cast<Info*>(reinterpret_cast<char*>(base) + sizeof(ODataVectorInfo)) + i;
        info->type = odataUNDEF;
        info->primitiveID = oprimitiveID_UNDEF;
        info->dataOffset = static_cast<longword>(data + i * dataSize);
        info->dataSize = static_cast<longword>(dataSize);
    }
    return oSUCCESS;
}

OStatus delete_vector(MemoryRegionID region) {
    return nutmeg::openr::delete_region(region) ? oSUCCESS : oINVALID_DATA_VECTOR_ID;
}

}  // namespace

namespace {

// Keeps data for a program until it deletes them.
OStatus hand_out(std::vector<char> bytes, ODesignDataID* id, byte** data, size_t* size) {
    std::lock_guard<std::mutex> lock(state_mutex);
    *id = next_design_data++;
    std::vector<char>& kept = design_data[*id];
    kept = std::move(bytes);
    *size = kept.size();
    *data = reinterpret_cast<byte*>(kept.data());
    return kept.empty() ? oDESIGNDATA_SIZE_ZERO : oSUCCESS;
}

OStatus control_speaker(OPrimitiveRequest request, void* param, size_t paramSize, void* result,
                        size_t resultSize) {
    nutmeg::openr::SpeakerState& speaker = nutmeg::openr::speaker_state();
    switch (request) {
        case oprmreqSPEAKER_MUTE_ON:
        case oprmreqSPEAKER_MUTE_OFF:
            speaker.mute = request == oprmreqSPEAKER_MUTE_ON;
            return oSUCCESS;
        case oprmreqSPEAKER_SET_SOUND_TYPE: {
            if (param == nullptr || paramSize < sizeof(OSpeakerSoundType)) return oINVALID_ARG;
            const auto type = *static_cast<const OSpeakerSoundType*>(param);
            if (type != ospksndMONO8K8B && type != ospksndMONO16K16B) return oINVALID_ARG;  // all that robots play
            speaker.type = type;
            return oSUCCESS;
        }
        case oprmreqSPEAKER_GET_SOUND_TYPE: {
            void* const answer = result == nullptr ? param : result;  // the maker's guide has it in `param`
            const size_t size = result == nullptr ? paramSize : resultSize;
            if (answer == nullptr || size < sizeof(OSpeakerSoundType)) return oINVALID_ARG;
            *static_cast<OSpeakerSoundType*>(answer) = speaker.type;
            return oSUCCESS;
        }
        case oprmreqSPEAKER_SET_VOLUME:
            return param == nullptr || paramSize < sizeof(longword) ? oINVALID_ARG : oSUCCESS;
        default:
            return oINVALID_ARG;  // there is no MIDI
    }
}

OStatus find_processor(ODesignDataID* id, byte** data, size_t* size) {
    OCPUInfo info = OCPUInfo();
    info.pclk = robot_link().design().name == "ERS-7" ? PROCESSOR_7 : PROCESSOR_210;
    const char* first = reinterpret_cast<const char*>(&info);
    return hand_out(std::vector<char>(first, first + sizeof(info)), id, data, size);
}

}  // namespace

namespace OPENR {

OStatus OpenPrimitive(const char* locator, OPrimitiveID* id) {
    const Primitive* primitive = locator == nullptr ? nullptr : robot_link().find(std::string(locator));
    *id = primitive == nullptr ? oprimitiveID_UNDEF : primitive->id;
    return primitive == nullptr ? oNOT_FOUND : oSUCCESS;
}

OStatus ClosePrimitive(OPrimitiveID id) { return robot_link().find(id) == nullptr ? oINVALID_PRIMITIVE_ID : oSUCCESS; }

OStatus ControlPrimitive(OPrimitiveID id, OPrimitiveRequest request, void* param, size_t paramSize, void* result,
                         size_t resultSize) {
    if (robot_link().find(id) == nullptr) return oINVALID_PRIMITIVE_ID;
    if (request >= oprmreqCAM_SET_WHITE_BALANCE && request <= oprmreqCAM_SET_SHUTTER_SPEED) {
        if (param == nullptr || paramSize < sizeof(longword)) return oINVALID_ARG;
        robot_link().send_camera(request, *static_cast<const longword*>(param));
        return oSUCCESS;
    }
    if (request >= oprmreqSPEAKER_MUTE_ON && request <= oprmreqSPEAKER_MASTER_TUNING_MIDI) {
        return control_speaker(request, param, paramSize, result, resultSize);
    }
    if (request == oprmreqJOINT2_GET_VALUE) {
        if (result == nullptr || resultSize < sizeof(OJointValue)) return oINVALID_ARG;
        return GetJointValue(id, static_cast<OJointValue*>(result));
    }
    // Microphones and automatic exposure can be set on the robot, and make no difference here.
    const bool known = (request >= oprmreqMIC_UNI && request <= oprmreqMIC_ALC_OFF) ||
                       (request >= oprmreqCAM_AE_ON && request <= oprmreqCAM_AWB_OFF);
    return known ? oSUCCESS : oINVALID_ARG;
}

OStatus NewCommandVectorData(size_t commands, MemoryRegionID* region, OCommandVectorData** vector) {
    const OStatus status = new_vector<OCommandVectorData, OCommandInfo>(odataCOMMAND_VECTOR, commands,
                                                                        sizeof(OCommandData), region, vector);
    if (status != oSUCCESS) return status;
    for (size_t i = 0; i < commands; ++i) (*vector)->GetInfo(static_cast<int>(i))->frameSize = sizeof(OCommandValue);
    return oSUCCESS;
}

OStatus DeleteCommandVectorData(MemoryRegionID region) { return delete_vector(region); }

OStatus NewSensorFrameVectorData(size_t sensors, MemoryRegionID* region, OSensorFrameVectorData** vector) {
    return new_vector<OSensorFrameVectorData, OSensorFrameInfo>(odataSENSOR_FRAME_VECTOR, sensors,
                                                                sizeof(OSensorFrameData), region, vector);
}

OStatus DeleteSensorFrameVectorData(MemoryRegionID region) { return delete_vector(region); }

OStatus NewSoundVectorData(size_t sounds, size_t size, MemoryRegionID* region, OSoundVectorData** vector) {
    const OStatus status = new_vector<OSoundVectorData, OSoundInfo>(odataSOUND_VECTOR, sounds, size, region, vector);
    if (status != oSUCCESS) return status;
    for (size_t i = 0; i < sounds; ++i)
        (*vector)->GetInfo(static_cast<int>(i))->maxDataSize = static_cast<longword>(size);
    return oSUCCESS;
}

OStatus DeleteSoundVectorData(MemoryRegionID region) { return delete_vector(region); }

OStatus NewCdtVectorData(MemoryRegionID* region, OCdtVectorData** vector) {
    void* base = nullptr;
    *region = nutmeg::openr::new_region(sizeof(OCdtVectorData), &base);
    *vector = static_cast<OCdtVectorData*>(base);
    ODataVectorInfo& head = (*vector)->vectorInfo;
    head.memRegionID = *region;
    head.totalSize = sizeof(OCdtVectorData);
    head.type = odataCDT_VECTOR;
    head.infoOffset = sizeof(ODataVectorInfo);
    head.infoSize = sizeof(OCdtInfo);
    head.maxNumData = ocdtNUM_CHANNELS;
    return oSUCCESS;
}

OStatus DeleteCdtVectorData(MemoryRegionID region) { return delete_vector(region); }

OStatus SetCdtVectorData(MemoryRegionID region) {
    const void* base = nutmeg::openr::region_base(region);
    if (base == nullptr) return oINVALID_DATA_VECTOR_ID;
    nutmeg::openr::colour_tables().set(*static_cast<const OCdtVectorData*>(base));
    return oSUCCESS;
}

OStatus NewFbkImageVectorData(MemoryRegionID* region, OFbkImageVectorData** vector) {
    const nutmeg::openr::Design& design = robot_link().design();
    if (design.image_width == 0) return oNOT_AVAILABLE;
    void* base = nullptr;
    const size_t size = nutmeg::openr::image_vector_size(design.image_width, design.image_height);
    *region = nutmeg::openr::new_region(size, &base);
    *vector = static_cast<OFbkImageVectorData*>(base);
    nutmeg::openr::lay_out_image_vector(**vector, design.image_width, design.image_height);
    (*vector)->vectorInfo.memRegionID = *region;
    return oSUCCESS;
}

OStatus DeleteFbkImageVectorData(MemoryRegionID region) { return delete_vector(region); }

OStatus EnableJointGain(OPrimitiveID id) {
    std::lock_guard<std::mutex> lock(state_mutex);
    Gains* gains = gains_of(id);
    if (gains == nullptr) return oINVALID_PRIMITIVE_ID;
    gains->enabled = true;
    return oSUCCESS;
}

OStatus DisableJointGain(OPrimitiveID id) {
    std::lock_guard<std::mutex> lock(state_mutex);
    Gains* gains = gains_of(id);
    if (gains == nullptr) return oINVALID_PRIMITIVE_ID;
    gains->enabled = false;
    robot_link().send_gains(id, NO_GAINS);
    return oSUCCESS;
}

OStatus SetJointGain(OPrimitiveID id, word pg, word ig, word dg, word ps, word is, word ds) {
    std::lock_guard<std::mutex> lock(state_mutex);
    Gains* gains = gains_of(id);
    if (gains == nullptr) return oINVALID_PRIMITIVE_ID;
    if (!gains->enabled) return oGAIN_DISABLED;
    const word given[6] = {pg, ig, dg, ps, is, ds};
    std::memcpy(gains->now, given, sizeof(given));
    robot_link().send_gains(id, given);
    return oSUCCESS;
}

OStatus GetJointGain(OPrimitiveID id, word* pg, word* ig, word* dg, word* ps, word* is, word* ds) {
    std::lock_guard<std::mutex> lock(state_mutex);
    const Gains* gains = gains_of(id);
    const bool works = gains != nullptr && gains->enabled;
    tell(works ? gains->now : NO_GAINS, pg, ig, dg, ps, is, ds);
    return works ? oSUCCESS : gains == nullptr ? oINVALID_PRIMITIVE_ID : oGAIN_DISABLED;
}

OStatus RegisterDefaultJointGain(OPrimitiveID id, word pg, word ig, word dg, word ps, word is, word ds) {
    std::lock_guard<std::mutex> lock(state_mutex);
    Gains* gains = gains_of(id);
    if (gains == nullptr) return oINVALID_PRIMITIVE_ID;
    const word given[6] = {pg, ig, dg, ps, is, ds};
    std::memcpy(gains->standard, given, sizeof(given));
    return oSUCCESS;
}

OStatus GetDefaultJointGain(OPrimitiveID id, word* pg, word* ig, word* dg, word* ps, word* is, word* ds) {
    std::lock_guard<std::mutex> lock(state_mutex);
    const Gains* gains = gains_of(id);
    tell(gains == nullptr ? NO_GAINS : gains->standard, pg, ig, dg, ps, is, ds);
    return gains == nullptr ? oINVALID_PRIMITIVE_ID : oSUCCESS;
}

OStatus SetDefaultJointGain(OPrimitiveID id) {
    word g[6];
    const OStatus status = GetDefaultJointGain(id, g, g + 1, g + 2, g + 3, g + 4, g + 5);
    return status == oSUCCESS ? SetJointGain(id, g[0], g[1], g[2], g[3], g[4], g[5]) : status;
}

OStatus GetJointValue(OPrimitiveID id, OJointValue* value) {
    OSensorValue latest;
    if (!robot_link().latest(id, &latest)) return oINVALID_PRIMITIVE_ID;
    static_assert(sizeof(OJointValue) == sizeof(OSensorValue), "both are 16 bytes on the robot");
    std::memcpy(static_cast<void*>(value), &latest, sizeof(latest));
    return oSUCCESS;
}

OStatus GetSensorValue(OPrimitiveID id, OSensorValue* value) {
    return robot_link().latest(id, value) ? oSUCCESS : oINVALID_PRIMITIVE_ID;
}

OStatus NewSyncKey(OVRSyncKey* key) {
    static std::atomic<OVRSyncKey> next{1};
    *key = next++;
    return oSUCCESS;
}

OStatus CancelSyncKey(OVRSyncKey key) { return key == ovrsynckeyUNDEF ? oINVALID_SYNC_KEY : oSUCCESS; }

// Both parts carry the same number: the server copies it back with the sensors.
OStatus DivideSyncKey(OVRSyncKey key, OVRSyncKey* first, OVRSyncKey* second) {
    *first = *second = key;
    return oSUCCESS;
}

OStatus SetMotorPower(OPower power) {
    robot_link().send_power(power);
    nutmeg::openr::power_state().set_bits(orsbMOTOR_POWER, power);
    return oSUCCESS;
}

OStatus Shutdown(const OBootCondition&) {
    nutmeg::openr::request_end(0);
    return oSUCCESS;
}

OStatus Fatal(OFatal fatal) {
    osyslog(osyslogERROR, "fatal condition %u: the program ends", fatal);
    nutmeg::openr::request_end(1);
    return oSUCCESS;
}

OStatus GetBootCondition(OBootCondition* condition) {
    *condition = OBootCondition(obcbPAUSE_SW);
    return oSUCCESS;
}

OStatus GetPowerStatus(OPowerStatus* status) {
    *status = nutmeg::openr::power_state().status();
    return oSUCCESS;
}

OStatus ObservePowerStatus(const OPowerStatus& when, const OServiceEntry& entry) {
    nutmeg::openr::power_state().observe(when, entry);
    return oSUCCESS;
}

OStatus UnobservePowerStatus(const OServiceEntry& entry) {
    return nutmeg::openr::power_state().unobserve(entry) ? oSUCCESS : oINVALID_ARG;
}

OStatus FindDesignData(const char* keyword, ODesignDataID* id, byte** data, size_t* size) {
    if (std::strcmp(keyword, odesignkeywordCPUINFO) == 0) return find_processor(id, data, size);
    const std::string path = design_path(keyword);
    if (path.empty()) return oNOT_FOUND;
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        osyslog(osyslogERROR, "%s names %s for %s, but there is no such file", DESIGN_FILE, path.c_str(), keyword);
        return oNOT_FOUND;
    }
    return hand_out(std::vector<char>(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()), id, data,
                    size);
}

OStatus DeleteDesignData(ODesignDataID id) {
    std::lock_guard<std::mutex> lock(state_mutex);
    return design_data.erase(id) > 0 ? oSUCCESS : oINVALID_ARG;
}

OStatus GetRobotDesign(char* design) {
    const std::string& name = robot_link().design().name;
    std::strncpy(design, name.c_str(), orobotdesignNAME_MAX);
    design[orobotdesignNAME_MAX] = 0;
    return name.empty() ? oNO_ROBOT_DESIGN : oSUCCESS;
}

OStatus GetMemoryStickStatus(OMemoryStickStatus* status) {
    *status = omemorystickWRITABLE;
    return oSUCCESS;
}

// A program cannot set the host's clock: it gets a clock of its own.
OStatus SetTime(const OTime& time) {
    clock_offset = time.GetClock() - (std::time(nullptr) - otimeSTART);
    return oSUCCESS;
}

OStatus GetTime(OTime* time) {
    return time->Set(std::time(nullptr) - otimeSTART + clock_offset, nutmeg::openr::power_state().status().timeDif);
}

OStatus SetTimeDifference(sbyte hours) {
    nutmeg::openr::power_state().set_time_difference(hours);
    return oSUCCESS;
}

OStatus GetTimeDifference(sbyte* hours) {
    *hours = nutmeg::openr::power_state().status().timeDif;
    return oSUCCESS;
}

OStatus SetVolumeSwitch(OVolumeSwitch level) {
    if (level > ovolumeSW3) return oFAIL;
    nutmeg::openr::power_state().set_volume(level);
    return oSUCCESS;
}

OStatus GetVolumeSwitch(OVolumeSwitch* level) {
    *level = nutmeg::openr::power_state().status().volume;
    return oSUCCESS;
}

}  // namespace OPENR
