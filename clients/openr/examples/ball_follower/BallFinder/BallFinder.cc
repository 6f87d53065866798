#include "BallFinder.h"

#include <OPENR/OPENRAPI.h>
#include <OPENR/OSyslog.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace {

const char* const CAMERA = "PRM:/r1/c1/c2/c3/i1-FbkImageSensor:F1";
const double VIEW_WIDTH_7 = 0.993;    // of the ERS-7's camera [rad]
const double VIEW_WIDTH_210 = 1.005;  // of the ERS-210's
const double RADIUS = 0.0325;         // of the ball [m]
const size_t FEWEST = 4;              // pixels that are a ball
const int NEIGHBOURS = 2;             // of the same colour that a pixel of the ball has at least

// Orange is rich in Cr and poor in Cb. Its Cr grows with its brightness: by more than half of Y, that of a yellow goal
// by a fifth.
const double CR_OF_Y = 0.25;
const double LEAST_CR = 30;
const double GREY = 128;
const byte CR_MAX = 255;
const byte CB_MIN = 0;
const byte CB_MAX = 121;

bool is_orange(const OFbkImage& detected, int x, int y) { return (detected.Pixel(x, y) & ocdtCHANNEL0) != 0; }

double middle_of(std::vector<int>& places) {
    const auto middle = places.begin() + static_cast<std::ptrdiff_t>(places.size() / 2);
    std::nth_element(places.begin(), middle, places.end());
    return *middle;
}

}  // namespace

void BallFinder::prepare() {
    char design[orobotdesignNAME_MAX + 1] = "";
    OPENR::GetRobotDesign(design);
    view_width_ = std::string(design) == "ERS-7" ? VIEW_WIDTH_7 : VIEW_WIDTH_210;
    look_for_orange();
}

// Tells the robot which colours are the ball's: for each of 32 bands of brightness a box in Cr and Cb.
void BallFinder::look_for_orange() {
    OPrimitiveID camera;
    MemoryRegionID memory;
    OCdtVectorData* tables;
    if (OPENR::OpenPrimitive(CAMERA, &camera) != oSUCCESS) {
        OSYSLOG1((osyslogERROR, "this robot has no camera"));
        return;
    }
    OPENR::NewCdtVectorData(&memory, &tables);
    tables->SetNumData(1);
    OCdtInfo* orange = tables->GetInfo(0);
    orange->Init(camera, ocdtCHANNEL0);
    for (int band = 0; band < ocdtMAX_Y_SEGMENT; ++band) {
        const double brightness = 256.0 * (band + 0.5) / ocdtMAX_Y_SEGMENT;
        const double least = GREY + std::max(CR_OF_Y * brightness, LEAST_CR);
        orange->Set(band, CR_MAX, static_cast<byte>(least), CB_MAX, CB_MIN);
    }
    OPENR::SetCdtVectorData(memory);
    OPENR::DeleteCdtVectorData(memory);
}

// Lone pixels are noise: only those count that have neighbours of the same colour.
BallSighting BallFinder::find(const OFbkImage& detected) const {
    std::vector<int> columns;
    std::vector<int> rows;
    for (int y = 1; y < detected.Height() - 2; ++y) {  // the last row holds the tag
        for (int x = 1; x < detected.Width() - 1; ++x) {
            if (!is_orange(detected, x, y)) continue;
            const int beside = is_orange(detected, x - 1, y) + is_orange(detected, x + 1, y) +
                               is_orange(detected, x, y - 1) + is_orange(detected, x, y + 1);
            if (beside < NEIGHBOURS) continue;
            columns.push_back(x);
            rows.push_back(y);
        }
    }
    if (columns.size() < FEWEST) return {0, 0, 0.0, 0.0, 0.0};
    const double focal = detected.Width() / 2.0 / std::tan(view_width_ / 2);  // of a pinhole camera [pixels]
    const double right = middle_of(columns) - (detected.Width() - 1) / 2.0;
    const double down = middle_of(rows) - (detected.Height() - 1) / 2.0;
    const double seen_radius = std::sqrt(static_cast<double>(columns.size()) / M_PI);
    return {0, static_cast<int>(columns.size()), -std::atan(right / focal), -std::atan(down / focal),
            focal * RADIUS / seen_radius};
}

void BallFinder::NotifyImage(const ONotifyEvent& event) {
    auto* images = reinterpret_cast<OFbkImageVectorData*>(event.RCData(0)->Base());
    const OFbkImage detected(images->GetInfo(ofbkimageLAYER_C), images->GetData(ofbkimageLAYER_C), ofbkimageBAND_CDT);
    BallSighting sighting = find(detected);
    sighting.frame = images->GetInfo(ofbkimageLAYER_C)->frameNumber;
    subject[sbjBall]->ClearBuffer();
    subject[sbjBall]->SetData(&sighting, sizeof(sighting));
    subject[sbjBall]->NotifyObservers();
    observer[event.ObsIndex()]->AssertReady();
}
