// Turns the head by half a radian in two vectors of 16 frames, each sent on READY, and says where it is at frame 60;
// or says what the first picture holds.
#include "Probe.h"
#include <OPENR/OFbkImage.h>
#include <OPENR/OPENRAPI.h>
#include <OPENR/OSyslog.h>
#include <OPENR/core_macro.h>

OStatus Probe::DoInit(const OSystemEvent& event) {
    NEW_ALL_SUBJECT_AND_OBSERVER;
    REGISTER_ALL_ENTRY;
    SET_ALL_READY_AND_NOTIFY_ENTRY;
    sent = 0;
    started = false;
    OPrimitiveID nothing;
    char design[orobotdesignNAME_MAX + 1];
    OPENR::GetRobotDesign(design);
    OSYSPRINT(("design %s, unknown %d\n", design, OPENR::OpenPrimitive("PRM:/r9-Joint2:91", &nothing)));
    OPENR::OpenPrimitive("PRM:/r1/c1/c2-Joint2:12", &pan);
    for (int i = 0; i < 2; i++) {
        MemoryRegionID memory;
        OCommandVectorData* vector;
        OPENR::NewCommandVectorData(1, &memory, &vector);
        vector->SetNumData(1);
        region[i] = new RCRegion(vector->vectorInfo.memRegionID, vector->vectorInfo.offset, (void*)vector,
                                 vector->vectorInfo.totalSize);
    }
    OPENR::SetMotorPower(opowerON);
    OSYSPRINT(("gain before enabling %d", OPENR::SetDefaultJointGain(pan)));
    OPENR::EnableJointGain(pan);
    OSYSPRINT((", after %d\n", OPENR::SetDefaultJointGain(pan)));

    OCdtVectorData* colours;
    MemoryRegionID memory;
    OPENR::NewCdtVectorData(&memory, &colours);
    colours->SetNumData(1);
    colours->GetInfo(0)->Init(oprimitiveID_UNDEF, ocdtCHANNEL2);
    for (int band = 0; band < ocdtMAX_Y_SEGMENT; band++) colours->GetInfo(0)->Set(band, 210, 190, 60, 40);
    OPENR::SetCdtVectorData(memory);
    return oSUCCESS;
}

OStatus Probe::DoStart(const OSystemEvent& event) {
    started = true;
    ASSERT_READY_TO_ALL_OBSERVER;
    if (subject[sbjMove]->IsReady()) Send();
    return oSUCCESS;
}

void Probe::Ready(const OReadyEvent& event) {
    if (started) Send();
}

void Probe::Send() {
    RCRegion* rgn = region[sent % 2];
    OCommandVectorData* vector = (OCommandVectorData*)rgn->Base();
    vector->GetInfo(0)->Set(odataJOINT_COMMAND2, pan, ocommandMAX_FRAMES);
    OJointCommandValue2* value = (OJointCommandValue2*)vector->GetData(0)->value;
    for (size_t i = 0; i < ocommandMAX_FRAMES; i++) {
        double share = (sent * 16.0 + i + 1) / 32;
        value[i].value = micro(0.5 * (share < 1 ? share : 1));
    }
    sent++;
    subject[sbjMove]->SetData(rgn);
    subject[sbjMove]->NotifyObservers();
}

void Probe::NotifySensor(const ONotifyEvent& event) {
    OSensorFrameVectorData* vector = (OSensorFrameVectorData*)event.Data(0);
    OJointValue now;
    OPENR::GetJointValue(pan, &now);
    OSYSPRINT(("frame %u sent %d reference %d angle %d\n", vector->GetInfo(0)->frameNumber, sent, now.refValue, now.value));
    if (vector->GetInfo(0)->frameNumber >= 60) {
        OPENR::Shutdown(OBootCondition());
        return;
    }
    observer[event.ObsIndex()]->AssertReady();
}

static void Tell(const char* name, OFbkImageVectorData* images, int layer, OFbkImageBand band) {
    OFbkImage image(images->GetInfo(layer), images->GetData(layer), band);
    int x = image.Width() / 4;
    int y = image.Height() / 4;
    OSYSPRINT(("%s %d x %d, inside %d, outside %d, field %d, colour %d\n", name, image.Width(), image.Height(),
               image.Pixel(x, y), image.Pixel(0, 0), image.FieldCounter(), image.ColorFrequency(ocdtCHANNEL2)));
}

void Probe::NotifyImage(const ONotifyEvent& event) {
    OFbkImageVectorData* images = (OFbkImageVectorData*)event.RCData(0)->Base();
    Tell("H Y", images, ofbkimageLAYER_H, ofbkimageBAND_Y);
    Tell("H Cr", images, ofbkimageLAYER_H, ofbkimageBAND_Cr);
    Tell("M Cb", images, ofbkimageLAYER_M, ofbkimageBAND_Cb);
    Tell("L Y", images, ofbkimageLAYER_L, ofbkimageBAND_Y);
    Tell("C", images, ofbkimageLAYER_C, ofbkimageBAND_CDT);
    OPENR::Shutdown(OBootCondition());
}
