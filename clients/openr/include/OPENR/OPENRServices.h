// Names of the services that stand for the robot.
#ifndef NUTMEG_OPENR_OPENRSERVICES_H
#define NUTMEG_OPENR_OPENRSERVICES_H

const char* const ovrcommSENSOR = "OVirtualRobotComm.Sensor.OSensorFrameVectorData.S";
const char* const ovrcommEFFECTOR = "OVirtualRobotComm.Effector.OCommandVectorData.O";
const char* const ovrcommFBK = "OVirtualRobotComm.FbkImageSensor.OFbkImageVectorData.S";
const char* const ovrcommALERT = "OVirtualRobotComm.Alert.OPrimitiveMapData.S";
const char* const ovrcommMIC = "OVirtualRobotAudioComm.Mic.OSoundVectorData.S";
const char* const ovrcommSPEAKER = "OVirtualRobotAudioComm.Speaker.OSoundVectorData.O";

#endif
