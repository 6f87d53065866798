#include "virtual_audio.h"

#include <OPENR/ODataFormats.h>
#include <OPENR/OPENRAPI.h>
#include <OPENR/OPENRServices.h>

#include <chrono>

#include "robot_link.h"

namespace nutmeg::openr {

namespace {

enum Selectors : Selector { SPEAKER_CONNECT = 4, SPEAKER_NOTIFY, MIC_CONTROL, MIC_READY, HEAR, PLAYED, BE_READY };

// Both robots exchange 32 ms of sound at a time; the microphones are stereo, 16 kHz, 16 bit.
const std::chrono::milliseconds PERIOD(32);
const size_t HEARD = 512 * sizeof(OSoundSampleStereo16);

struct Played {
    SubjectID subject;
    RCRegion* region;
};

}  // namespace

VirtualAudio::VirtualAudio() : task_("OVirtualRobotAudioComm") {
    microphone_.SetReadyEntry(OServiceEntry(task_.oid(), MIC_READY));
    speaker_.SetNotifyEntry(OServiceEntry(task_.oid(), SPEAKER_NOTIFY));
    speaker_.SetBufCtrlParam(0, 1, MAX_NUM_DATA);
    services().add(ovrcommMIC, OServiceEntry(task_.oid(), MIC_CONTROL));
    services().add(ovrcommSPEAKER, OServiceEntry(task_.oid(), SPEAKER_CONNECT));
    task_.set_entry(SPEAKER_CONNECT, [this](void* m) { speaker_.ConnectHandler(*static_cast<OConnectMessage*>(m)); });
    task_.set_entry(SPEAKER_NOTIFY, [this](void* m) { play(*static_cast<ONotifyMessage*>(m)); });
    task_.set_entry(MIC_CONTROL, [this](void* m) { microphone_.ControlHandler(*static_cast<OControlMessage*>(m)); });
    task_.set_entry(MIC_READY, [this](void* m) { microphone_.ReadyHandler(*static_cast<OReadyMessage*>(m)); });
    task_.set_entry(HEAR, [this](void*) { hear(); });
    task_.set_entry(BE_READY, [this](void*) { speaker_.AssertReady(); });
    task_.set_entry(PLAYED, [this](void* m) {
        const Played& played = *static_cast<Played*>(m);
        played.region->RemoveReference();
        speaker_.AssertReady(played.subject);
    });
}

void VirtualAudio::start() { task_.start(); }

void VirtualAudio::stop() {
    if (timer_ != 0) timers().remove(timer_);
    task_.stop();
}

void VirtualAudio::be_ready() {
    Send(task_.oid(), BE_READY, nullptr, 0);
    if (microphone_.NumberOfObservers() == 0) return;
    timer_ = timers().add(PERIOD, PERIOD, [this] { Send(task_.oid(), HEAR, nullptr, 0); });
}

void VirtualAudio::hear() {
    RCRegion* region = new RCRegion(sizeof(OSoundVectorData) + HEARD);
    auto* vector = reinterpret_cast<OSoundVectorData*>(region->Base());
    ODataVectorInfo& head = vector->vectorInfo;
    head.memRegionID = region->MemID();
    head.totalSize = static_cast<longword>(region->Size());
    head.type = odataSOUND_VECTOR;
    head.infoOffset = sizeof(ODataVectorInfo);
    head.infoSize = sizeof(OSoundInfo);
    head.maxNumData = head.numData = 1;
    head.syncKey = ovrsynckeyUNDEF;
    OSoundInfo& info = vector->info[0];
    info.type = odataSOUND;
    for (const Primitive& primitive : robot_link().design().primitives) {
        if (primitive.locator.find("-Mic:") != std::string::npos) info.primitiveID = primitive.id;
    }
    info.frameNumber = frame_;
    frame_ += 4;
    info.frameSize = HEARD / 4;
    info.dataOffset = sizeof(OSoundVectorData);
    info.maxDataSize = info.dataSize = info.actualDataSize = HEARD;
    info.format = osoundformatPCM;
    info.channel = osoundchannelSTEREO;
    info.samplingRate = 16000;
    info.bitsPerSample = 16;
    for (auto observer = microphone_.begin(); observer != microphone_.end(); ++observer) {
        if (!microphone_.IsReady(*observer)) microphone_.ClearBuffer(*observer);
    }
    microphone_.SetData(region);
    microphone_.NotifyObservers();
    region->RemoveReference();
}

void VirtualAudio::play(const ONotifyMessage& message) {
    ONotifyEvent event;
    speaker_.NotifyHandler(message, &event);
    for (int i = 0; i < event.NumOfData(); ++i) {
        Played played = {message.subjectID, event.RCData(i)};
        played.region->AddReference();
        const OID self = task_.oid();
        timers().add((i + 1) * PERIOD, Timers::Clock::duration::zero(), [self, played] {
            Played copy = played;
            Send(self, PLAYED, &copy, sizeof(copy));
        });
    }
}

}  // namespace nutmeg::openr
