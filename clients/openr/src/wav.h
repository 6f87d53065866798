// Sound in files: WAV with 16 bits, 16 kHz, as the robot's microphones and its better speaker have it.
#ifndef NUTMEG_OPENR_WAV_H
#define NUTMEG_OPENR_WAV_H

#include <Types.h>

#include <cstdio>
#include <string>
#include <vector>

namespace nutmeg::openr {

const longword SOUND_RATE = 16000;

// Left and right, alternating; a file with one channel is heard on both sides. Throws std::runtime_error.
std::vector<sword> read_stereo_wav(const std::string& path);

// A file of one channel that is whole after every write.
class WavWriter {
public:
    WavWriter() = default;
    ~WavWriter();
    WavWriter(const WavWriter&) = delete;
    WavWriter& operator=(const WavWriter&) = delete;
    // Throws std::runtime_error if the file cannot be made.
    void open(const std::string& path);
    bool is_open() const { return file_ != nullptr; }
    void write(const std::vector<sword>& samples);

private:
    std::FILE* file_ = nullptr;
    longword bytes_ = 0;
};

}  // namespace nutmeg::openr

#endif
