// The calls an OPEN-R program makes to its robot.
#ifndef NUTMEG_OPENR_OPENRAPI_H
#define NUTMEG_OPENR_OPENRAPI_H

#include <OPENR/MWInformationTypes.h>
#include <OPENR/ODataFormats.h>
#include <OPENR/OPENR.h>
#include <OPENR/OPower.h>
#include <OPENR/OPrimitiveControl.h>

namespace OPENR {

// Primitives: a locator such as "PRM:/r2/c1-Joint2:21" becomes a number.
OStatus OpenPrimitive(const char* locator, OPrimitiveID* id);
OStatus ClosePrimitive(OPrimitiveID id);
OStatus ControlPrimitive(OPrimitiveID id, OPrimitiveRequest request, void* param, size_t paramSize, void* result,
                         size_t resultSize);

// Vectors, with every info and offset filled in.
OStatus NewCommandVectorData(size_t commands, MemoryRegionID* region, OCommandVectorData** vector);
OStatus DeleteCommandVectorData(MemoryRegionID region);
OStatus NewSoundVectorData(size_t sounds, size_t size, MemoryRegionID* region, OSoundVectorData** vector);
OStatus DeleteSoundVectorData(MemoryRegionID region);
OStatus NewCdtVectorData(MemoryRegionID* region, OCdtVectorData** vector);
OStatus DeleteCdtVectorData(MemoryRegionID region);
OStatus SetCdtVectorData(MemoryRegionID region);
OStatus NewSensorFrameVectorData(size_t sensors, MemoryRegionID* region, OSensorFrameVectorData** vector);
OStatus DeleteSensorFrameVectorData(MemoryRegionID region);
OStatus NewFbkImageVectorData(MemoryRegionID* region, OFbkImageVectorData** vector);
OStatus DeleteFbkImageVectorData(MemoryRegionID region);

// Joints: gains are what the robot takes (P, I, D and their shifts).
OStatus EnableJointGain(OPrimitiveID id);
OStatus DisableJointGain(OPrimitiveID id);
OStatus SetJointGain(OPrimitiveID id, word pg, word ig, word dg, word ps, word is, word ds);
OStatus GetJointGain(OPrimitiveID id, word* pg, word* ig, word* dg, word* ps, word* is, word* ds);
OStatus RegisterDefaultJointGain(OPrimitiveID id, word pg, word ig, word dg, word ps, word is, word ds);
OStatus GetDefaultJointGain(OPrimitiveID id, word* pg, word* ig, word* dg, word* ps, word* is, word* ds);
OStatus SetDefaultJointGain(OPrimitiveID id);
OStatus GetJointValue(OPrimitiveID id, OJointValue* value);
OStatus GetSensorValue(OPrimitiveID id, OSensorValue* value);

// Commands of several objects that are to start in the same frame share a key, divided among them.
OStatus NewSyncKey(OVRSyncKey* key);
OStatus CancelSyncKey(OVRSyncKey key);
OStatus DivideSyncKey(OVRSyncKey key, OVRSyncKey* first, OVRSyncKey* second);

// Power.
OStatus SetMotorPower(OPower power);
OStatus Shutdown(const OBootCondition& condition);
OStatus GetBootCondition(OBootCondition* condition);
OStatus GetPowerStatus(OPowerStatus* status);
OStatus ObservePowerStatus(const OPowerStatus& when, const OServiceEntry& entry);
OStatus UnobservePowerStatus(const OServiceEntry& entry);
OStatus Fatal(OFatal fatal);

// Design data (DESIGNDB.CFG), model, memory stick, time, volume.
OStatus FindDesignData(const char* keyword, ODesignDataID* id, byte** data, size_t* size);
OStatus DeleteDesignData(ODesignDataID id);
OStatus GetRobotDesign(char* design);
OStatus GetMemoryStickStatus(OMemoryStickStatus* status);
OStatus SetTime(const OTime& time);
OStatus GetTime(OTime* time);
OStatus SetTimeDifference(sbyte hours);
OStatus GetTimeDifference(sbyte* hours);
OStatus SetVolumeSwitch(OVolumeSwitch volume);
OStatus GetVolumeSwitch(OVolumeSwitch* volume);

}  // namespace OPENR

#endif
