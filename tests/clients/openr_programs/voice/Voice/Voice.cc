// Plays a tenth of a second of sound twice, listens meanwhile, and asks the system what else there is.
#include "Voice.h"
#include <ERA201D1.h>
#include <OPENR/OCalendarTime.h>
#include <OPENR/OPENRAPI.h>
#include <OPENR/OShmPtr.h>
#include <OPENR/OSyslog.h>
#include <OPENR/core_macro.h>
#include <ant.h>

const size_t TENTH = 800;  // samples of 8 bits, 8 kHz

static void TellSystem() {
    OPowerStatus power;
    OPENR::GetPowerStatus(&power);
    OSYSPRINT(("power %u %u\n", power.remainingCapacity, power.temperature));
    OTime now;
    OPENR::GetTime(&now);
    OSYSPRINT(("year %d\n", OCalendarTime(now).year_ + otimeSTART_YEAR));
    ODesignDataID id;
    byte* data;
    size_t size;
    OSYSPRINT(("processor %u", OPENR::FindDesignData(odesignkeywordCPUINFO, &id, &data, &size)));
    OSYSPRINT((" %u\n", (unsigned)size));
    EtherDriverGetWLANSettingsMsg wireless;
    OSYSPRINT(("wireless %d %s", ERA201D1_GetWLANSettings(&wireless), wireless.essid));
    OSYSPRINT((" %u\n", wireless.channel));
    antEnvInitGetParamMsg unknown("NO_SUCH_KEY");
    unknown.Call(antStackRef("IPStack"), sizeof(unknown));
    OSYSPRINT(("unknown parameter %d\n", unknown.error));
    OSYSPRINT(("unknown request %u\n", OPENR::ControlPrimitive(oprimitiveID_UNDEF, oprmreqMIC_UNI, 0, 0, 0, 0)));
}

static void CopyOnWrite() {
    OShmPtr<int> one(2);
    one[0] = 1;
    OShmPtr<int> other(one);
    other[0] = 2;
    const OShmPtr<int>& read = one;
    OSYSPRINT(("pointers %d %d %u\n", read[0], *other.operator->(), (unsigned)one.NumOfElement()));
}

OStatus Voice::DoInit(const OSystemEvent& event) {
    NEW_ALL_SUBJECT_AND_OBSERVER;
    REGISTER_ALL_ENTRY;
    SET_ALL_READY_AND_NOTIFY_ENTRY;
    said = heard = 0;
    started = ready = over = false;
    MemoryRegionID memory;
    OSoundVectorData* vector;
    OPENR::NewSoundVectorData(1, TENTH, &memory, &vector);
    vector->SetNumData(1);
    OSoundInfo* info = vector->GetInfo(0);
    info->Set(odataSOUND, 1, TENTH);
    info->format = osoundformatPCM;
    info->channel = osoundchannelMONO;
    info->samplingRate = 8000;
    info->bitsPerSample = 8;
    for (size_t i = 0; i < TENTH; i++) vector->GetData(0)[i] = i % 2 ? 192 : 64;
    region = new RCRegion(memory, 0, vector, vector->vectorInfo.totalSize);
    return oSUCCESS;
}

OStatus Voice::DoStart(const OSystemEvent& event) {
    TellSystem();
    CopyOnWrite();
    ASSERT_READY_TO_ALL_OBSERVER;
    started = true;
    GoOn();
    return oSUCCESS;
}

// Says the next sound as soon as the speaker is ready for it, which may be before or after DoStart.
void Voice::GoOn() {
    if (!started || !ready) return;
    ready = false;
    if (said < 2) {
        Say();
        return;
    }
    over = true;  // the microphone goes on until the program ends: nothing more is told of it
    OSYSPRINT(("said %d, heard something %d\n", said, heard > 0));
    OPENR::Shutdown(OBootCondition(obcbPAUSE_SW));
}

void Voice::Say() {
    OShmPtrBase sound(region);
    subject[sbjSound]->SetData(sound);
    subject[sbjSound]->NotifyObservers();
    said++;
}

void Voice::Ready(const OReadyEvent& event) {
    ready = true;
    GoOn();
}

void Voice::Notify(const ONotifyEvent& event) {
    if (over) return;
    OSoundVectorData* vector = (OSoundVectorData*)event.RCData(0)->Base();
    const OSoundSampleStereo16* samples = (const OSoundSampleStereo16*)vector->GetData(0);
    OSYSPRINT(("vector %d %d\n", samples[0].L, samples[511].R));
    heard++;
    observer[event.ObsIndex()]->AssertReady();
}
