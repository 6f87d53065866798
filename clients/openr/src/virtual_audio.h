// OVirtualRobotAudioComm: a microphone that hears silence and a speaker that takes its time. No sound leaves the host.
#ifndef NUTMEG_OPENR_VIRTUAL_AUDIO_H
#define NUTMEG_OPENR_VIRTUAL_AUDIO_H

#include <OPENR/OObserver.h>
#include <OPENR/OSubject.h>

#include "kernel.h"

namespace nutmeg::openr {

class VirtualAudio {
public:
    VirtualAudio();
    void start();
    void be_ready();
    void stop();

private:
    void hear();
    void play(const ONotifyMessage& message);

    Task task_;
    OSubject microphone_;
    OObserver speaker_;
    unsigned timer_ = 0;
    longword frame_ = 0;
};

}  // namespace nutmeg::openr

#endif
