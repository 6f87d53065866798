// OVirtualRobotAudioComm: the microphones and the speaker. What is heard is silence or a file; what is played takes its
// time, and may be kept in a file. Nothing leaves the host by its own speaker.
#ifndef NUTMEG_OPENR_VIRTUAL_AUDIO_H
#define NUTMEG_OPENR_VIRTUAL_AUDIO_H

#include <OPENR/OObserver.h>
#include <OPENR/OPrimitiveControl.h>
#include <OPENR/OSubject.h>

#include <atomic>
#include <deque>
#include <string>
#include <vector>

#include "kernel.h"
#include "wav.h"

namespace nutmeg::openr {

// What OPENR::ControlPrimitive has set.
struct SpeakerState {
    std::atomic<OSpeakerSoundType> type{ospksndMONO8K8B};
    std::atomic<bool> mute{false};
};
SpeakerState& speaker_state();

class VirtualAudio {
public:
    VirtualAudio();
    // Files that the microphones hear and that keeps what the speaker plays; empty for none. Throws std::runtime_error.
    void use_files(const std::string& microphone, const std::string& speaker);
    void start() { task_.start(); }
    // Without a robot time goes on by the clock, otherwise by `advance`.
    void be_ready(bool robot);
    // 32 ms have passed: a vector's time, beginning with a frame.
    void advance(longword frame);
    void stop();

private:
    // A sound vector that is being played: samples of one channel, and how many of them are over.
    struct Playing {
        RCRegion* region;
        std::vector<sword> samples;
        size_t over;
    };
    struct Channel {
        SubjectID subject;
        std::deque<Playing> queue;
    };

    void hear(longword frame);
    void fill(OSoundInfo& info, sword* samples, longword frame);
    void take(const ONotifyMessage& message);
    void play();
    Channel& channel_of(const SubjectID& subject);

    Task task_;
    OSubject microphone_;
    OObserver speaker_;
    std::deque<Channel> channels_;
    std::vector<sword> heard_;  // by the microphones: left and right, alternating
    size_t heard_so_far_ = 0;
    WavWriter kept_;
    unsigned timer_ = 0;
    longword next_frame_ = 0;
};

}  // namespace nutmeg::openr

#endif
