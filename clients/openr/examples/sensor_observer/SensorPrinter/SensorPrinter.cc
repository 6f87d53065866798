#include "SensorPrinter.h"

#include <OPENR/ODataFormats.h>
#include <OPENR/OPENRAPI.h>
#include <OPENR/OSyslog.h>

namespace {

const int BETWEEN = 32;  // vectors of 32 ms between two prints

// What a value counts, by its type.
const char* unit_of(ODataType type) {
    switch (type) {
        case odataJOINT_VALUE:
            return "rad";
        case odataACCELERATION:
            return "m/s2";
        case odataLENGTH:
            return "m";
        case odataFORCE:
            return "N";
        case odataTEMPERATURE:
            return "deg C";
        default:
            return "";
    }
}

}  // namespace

void SensorPrinter::Notify(const ONotifyEvent& event) {
    auto* vector = reinterpret_cast<OSensorFrameVectorData*>(event.RCData(0)->Base());
    if (vectors_++ % BETWEEN == 0) {
        OSYSPRINT(("frame %u, %u sensors\n", vector->GetInfo(0)->frameNumber, vector->vectorInfo.numData));
        for (int i = 0; i < static_cast<int>(vector->vectorInfo.numData); ++i) {
            const OSensorFrameInfo* info = vector->GetInfo(i);
            const char* unit = unit_of(info->type);
            const OSensorValue& value = vector->GetData(i)->frame[info->numFrames - 1];
            OSYSPRINT(("  %2d  primitive %2u  %10.4f %s\n", i, info->primitiveID,
                       *unit == 0 ? value.value : value.value / 1e6, unit));
        }
    }
    observer[event.ObsIndex()]->AssertReady();
}
