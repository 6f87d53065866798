#include "BallFinder.h"

#include <OPENR/OPENRAPI.h>
#include <OPENR/OSyslog.h>
#include <OPENR/core_macro.h>

#include <algorithm>

namespace {

// Field of view of the ERS-7 (56.9 by 45.2 degrees); that of the ERS-210 is two degrees wider.
const double VIEW_WIDTH = 0.993;
const double VIEW_HEIGHT = 0.789;
const int FEWEST = 6;  // pixels that are a ball

// Orange is rich in Cr and poor in Cb. Its Cr grows with its brightness: by half of Y, that of a yellow goal by a
// sixth.
const double CR_OF_Y = 0.32;
const byte CR_MAX = 255;
const byte CB_MIN = 0;
const byte CB_MAX = 110;
const int FIRST_BAND = 3;

const char* camera_locator() { return "PRM:/r1/c1/c2/c3/i1-FbkImageSensor:F1"; }

}  // namespace

OStatus BallFinder::DoInit(const OSystemEvent&) {
    NEW_ALL_SUBJECT_AND_OBSERVER;
    REGISTER_ALL_ENTRY;
    SET_ALL_READY_AND_NOTIFY_ENTRY;
    look_for_orange();
    return oSUCCESS;
}

OStatus BallFinder::DoStart(const OSystemEvent&) {
    ENABLE_ALL_SUBJECT;
    ASSERT_READY_TO_ALL_OBSERVER;
    return oSUCCESS;
}

OStatus BallFinder::DoStop(const OSystemEvent&) {
    DISABLE_ALL_SUBJECT;
    DEASSERT_READY_TO_ALL_OBSERVER;
    return oSUCCESS;
}

OStatus BallFinder::DoDestroy(const OSystemEvent&) {
    DELETE_ALL_SUBJECT_AND_OBSERVER;
    return oSUCCESS;
}

void BallFinder::look_for_orange() {
    OPrimitiveID camera;
    MemoryRegionID memory;
    OCdtVectorData* tables;
    if (OPENR::OpenPrimitive(camera_locator(), &camera) != oSUCCESS) {
        OSYSLOG1((osyslogERROR, "this robot has no camera"));
        return;
    }
    OPENR::NewCdtVectorData(&memory, &tables);
    tables->SetNumData(1);
    OCdtInfo* orange = tables->GetInfo(0);
    orange->Init(camera, ocdtCHANNEL0);
    for (int band = FIRST_BAND; band < ocdtMAX_Y_SEGMENT; ++band) {
        const double least = std::min(128 + CR_OF_Y * 8 * (band + 1), 254.0);
        orange->Set(band, CR_MAX, static_cast<byte>(least), CB_MAX, CB_MIN);
    }
    OPENR::SetCdtVectorData(memory);
    OPENR::DeleteCdtVectorData(memory);
}

BallSighting BallFinder::find(const OFbkImage& detected) {
    long count = 0;
    long across = 0;
    long down = 0;
    for (int y = 0; y < detected.Height() - 1; ++y) {  // the last row holds the tag
        for (int x = 0; x < detected.Width(); ++x) {
            if ((detected.Pixel(x, y) & ocdtCHANNEL0) == 0) continue;
            ++count;
            across += x;
            down += y;
        }
    }
    if (count < FEWEST) return {0, 0.0, 0.0};
    const double x = static_cast<double>(across) / static_cast<double>(count) / detected.Width();
    const double y = static_cast<double>(down) / static_cast<double>(count) / detected.Height();
    return {static_cast<int>(count), (0.5 - x) * VIEW_WIDTH, (0.5 - y) * VIEW_HEIGHT};
}

void BallFinder::NotifyImage(const ONotifyEvent& event) {
    auto* images = reinterpret_cast<OFbkImageVectorData*>(event.RCData(0)->Base());
    const OFbkImage detected(images->GetInfo(ofbkimageLAYER_C), images->GetData(ofbkimageLAYER_C), ofbkimageBAND_CDT);
    const BallSighting sighting = find(detected);
    subject[sbjBall]->ClearBuffer();
    subject[sbjBall]->SetData(&sighting, sizeof(sighting));
    subject[sbjBall]->NotifyObservers();
    observer[event.ObsIndex()]->AssertReady();
}
