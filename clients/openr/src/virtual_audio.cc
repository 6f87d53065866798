#include "virtual_audio.h"

#include <OPENR/ODataFormats.h>
#include <OPENR/OPENRAPI.h>
#include <OPENR/OPENRServices.h>
#include <OPENR/OSyslog.h>

#include <algorithm>
#include <chrono>

#include "robot_link.h"

namespace nutmeg::openr {

namespace {

enum Selectors : Selector { SPEAKER_CONNECT = 4, SPEAKER_NOTIFY, MIC_CONTROL, MIC_READY, ADVANCE, BE_READY };

// Both robots exchange 32 ms of sound at a time, four frames; the microphones are stereo.
const std::chrono::milliseconds PERIOD(32);
const longword FRAMES = 4;
const size_t SAMPLES = 512;
const size_t HEARD = SAMPLES * sizeof(OSoundSampleStereo16);
const size_t FRAME_SAMPLES = SAMPLES / FRAMES;

// How a vector's bytes are to be read.
struct SoundFormat {
    longword rate;
    longword bits;
    longword channels;
};

SoundFormat format_set(OSpeakerSoundType type) {
    switch (type) {
        case ospksndMONO11K8B:
            return {11025, 8, 1};
        case ospksndMONO16K8B:
            return {16000, 8, 1};
        case ospksndMONO16K16B:
            return {16000, 16, 1};
        case ospksndSTEREO16K16B:
            return {16000, 16, 2};
        default:
            return {8000, 8, 1};
    }
}

// What the vector says of itself; if it says nothing, what the speaker was set to.
SoundFormat format_of(const OSoundInfo& info) {
    if (info.samplingRate == 0 || (info.bitsPerSample != 8 && info.bitsPerSample != 16)) {
        return format_set(speaker_state().type);
    }
    return {info.samplingRate, info.bitsPerSample, info.channel == osoundchannelSTEREO ? 2u : 1u};
}

// A vector's sound as samples of 16 kHz and one channel, after the silence that its `wait` asks for.
std::vector<sword> samples_of(OSoundVectorData& vector) {
    std::vector<sword> samples(FRAME_SAMPLES * std::min<longword>(vector.vectorInfo.wait, 75000), 0);
    for (longword i = 0; i < vector.vectorInfo.numData; ++i) {
        const OSoundInfo& info = *vector.GetInfo(static_cast<int>(i));
        const byte* data = vector.GetData(static_cast<int>(i));
        const SoundFormat format = format_of(info);
        const size_t size = format.bits / 8 * format.channels;
        const size_t count = std::min(info.dataSize, info.maxDataSize) / size;
        for (size_t at = 0; at < count * SOUND_RATE / format.rate; ++at) {
            const byte* sample = data + at * format.rate / SOUND_RATE * size;
            samples.push_back(format.bits == 8 ? static_cast<sword>((sample[0] - 128) * 256)
                                               : static_cast<sword>(sample[0] | sample[1] << 8));
        }
    }
    return samples;
}

}  // namespace

SpeakerState& speaker_state() {
    static SpeakerState the_state;
    return the_state;
}

VirtualAudio::VirtualAudio() : task_("OVirtualRobotAudioComm") {
    microphone_.SetReadyEntry(OServiceEntry(task_.oid(), MIC_READY));
    speaker_.SetNotifyEntry(OServiceEntry(task_.oid(), SPEAKER_NOTIFY));
    speaker_.SetBufCtrlParam(0, 1, MAX_NUM_DATA);
    services().add(ovrcommMIC, OServiceEntry(task_.oid(), MIC_CONTROL));
    services().add(ovrcommSPEAKER, OServiceEntry(task_.oid(), SPEAKER_CONNECT));
    task_.set_entry(SPEAKER_CONNECT, [this](void* m) { speaker_.ConnectHandler(*static_cast<OConnectMessage*>(m)); });
    task_.set_entry(SPEAKER_NOTIFY, [this](void* m) { take(*static_cast<ONotifyMessage*>(m)); });
    task_.set_entry(MIC_CONTROL, [this](void* m) { microphone_.ControlHandler(*static_cast<OControlMessage*>(m)); });
    task_.set_entry(MIC_READY, [this](void* m) { microphone_.ReadyHandler(*static_cast<OReadyMessage*>(m)); });
    task_.set_entry(BE_READY, [this](void*) { speaker_.AssertReady(); });
    task_.set_entry(ADVANCE, [this](void* m) {
        hear(*static_cast<longword*>(m));
        play();
    });
}

void VirtualAudio::use_files(const std::string& microphone, const std::string& speaker) {
    if (!microphone.empty()) heard_ = read_stereo_wav(microphone);
    if (!speaker.empty()) kept_.open(speaker);
}

void VirtualAudio::stop() {
    if (timer_ != 0) timers().remove(timer_);
    task_.stop();
}

void VirtualAudio::be_ready(bool robot) {
    Send(task_.oid(), BE_READY, nullptr, 0);
    if (robot) return;
    timer_ = timers().add(PERIOD, PERIOD, [this] {
        advance(next_frame_);
        next_frame_ += FRAMES;
    });
}

void VirtualAudio::advance(longword frame) { Send(task_.oid(), ADVANCE, &frame, sizeof(frame)); }

void VirtualAudio::hear(longword frame) {
    if (microphone_.NumberOfObservers() == 0) return;
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
    vector->info[0].dataOffset = sizeof(OSoundVectorData);
    fill(vector->info[0], reinterpret_cast<sword*>(vector->GetData(0)), frame);
    for (auto observer = microphone_.begin(); observer != microphone_.end(); ++observer) {
        if (!microphone_.IsReady(*observer)) microphone_.ClearBuffer(*observer);
    }
    microphone_.SetData(region);
    microphone_.NotifyObservers();
    region->RemoveReference();
}

// What the microphones hear in these 32 ms: the next piece of the file, silence after its end.
void VirtualAudio::fill(OSoundInfo& info, sword* samples, longword frame) {
    info.type = odataSOUND;
    for (const Primitive& primitive : robot_link().design().primitives) {
        if (primitive.locator.find("-Mic:") != std::string::npos) info.primitiveID = primitive.id;
    }
    info.frameNumber = frame;
    info.frameSize = HEARD / FRAMES;
    info.maxDataSize = info.dataSize = info.actualDataSize = HEARD;
    info.format = osoundformatPCM;
    info.channel = osoundchannelSTEREO;
    info.samplingRate = SOUND_RATE;
    info.bitsPerSample = 16;
    for (size_t i = 0; i < 2 * SAMPLES && heard_so_far_ < heard_.size(); ++i) samples[i] = heard_[heard_so_far_++];
}

VirtualAudio::Channel& VirtualAudio::channel_of(const SubjectID& subject) {
    for (Channel& channel : channels_) {
        if (channel.subject == subject) return channel;
    }
    channels_.push_back(Channel{subject, {}});
    return channels_.back();
}

void VirtualAudio::take(const ONotifyMessage& message) {
    ONotifyEvent event;
    speaker_.NotifyHandler(message, &event);
    Channel& channel = channel_of(message.subjectID);
    for (int i = 0; i < event.NumOfData(); ++i) {
        RCRegion* region = event.RCData(i);
        region->AddReference();
        auto& vector = *reinterpret_cast<OSoundVectorData*>(region->Base());
        channel.queue.push_back(Playing{region, samples_of(vector), 0});
    }
}

// Plays 32 ms of everybody's sound; a subject whose vector is over gets it back, and READY. READY comes last: a program
// may end once its sound is over, and then the file must be complete.
void VirtualAudio::play() {
    std::vector<sword> together(SAMPLES, 0);
    std::vector<SubjectID> over;
    for (Channel& channel : channels_) {
        for (size_t at = 0; at < SAMPLES && !channel.queue.empty();) {
            Playing& first = channel.queue.front();
            for (; at < SAMPLES && first.over < first.samples.size(); ++at, ++first.over) {
                together[at] = static_cast<sword>(std::clamp(together[at] + first.samples[first.over], -32768, 32767));
            }
            if (first.over < first.samples.size()) break;
            first.region->RemoveReference();
            channel.queue.pop_front();
            over.push_back(channel.subject);
        }
    }
    if (speaker_state().mute) std::fill(together.begin(), together.end(), static_cast<sword>(0));
    kept_.write(together);
    for (const SubjectID& subject : over) speaker_.AssertReady(subject);
}

}  // namespace nutmeg::openr
