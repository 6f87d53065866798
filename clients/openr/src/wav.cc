#include "wav.h"

#include <errno.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace nutmeg::openr {

namespace {

const size_t HEADER = 44;
const longword FORMAT_SIZE = 16;
const word PCM = 1;

template <class T>
T at(const std::vector<char>& bytes, size_t offset) {
    T value = T();
    if (offset + sizeof(T) <= bytes.size()) std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
}

template <class T>
void put(char* into, T value) {
    std::memcpy(into, &value, sizeof(T));
}

// Where the content of a chunk begins; 0 if there is none.
size_t find_chunk(const std::vector<char>& bytes, const char* name) {
    for (size_t offset = 12; offset + 8 <= bytes.size();) {
        if (std::memcmp(bytes.data() + offset, name, 4) == 0) return offset + 8;
        const longword size = at<longword>(bytes, offset + 4);
        offset += 8 + size + size % 2;
    }
    return 0;
}

void make_header(char header[HEADER], longword bytes) {
    std::memcpy(header, "RIFF....WAVEfmt ................data....", HEADER);
    put<longword>(header + 4, static_cast<longword>(HEADER - 8) + bytes);
    put<longword>(header + 16, FORMAT_SIZE);
    put<word>(header + 20, PCM);
    put<word>(header + 22, 1);
    put<longword>(header + 24, SOUND_RATE);
    put<longword>(header + 28, SOUND_RATE * 2);
    put<word>(header + 32, 2);
    put<word>(header + 34, 16);
    std::memcpy(header + 36, "data", 4);
    put<longword>(header + 40, bytes);
}

}  // namespace

std::vector<sword> read_stereo_wav(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read the sound " + path);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const size_t format = find_chunk(bytes, "fmt ");
    const size_t data = find_chunk(bytes, "data");
    const word channels = at<word>(bytes, format + 2);
    const bool fits = format != 0 && data != 0 && at<word>(bytes, format) == PCM && (channels == 1 || channels == 2) &&
                      at<longword>(bytes, format + 4) == SOUND_RATE && at<word>(bytes, format + 14) == 16;
    if (!fits) throw std::runtime_error(path + " must be a WAV file of 16 kHz and 16 bits, with one channel or two");
    const size_t size = std::min<size_t>(at<longword>(bytes, data - 4), bytes.size() - data);
    std::vector<sword> samples;
    for (size_t offset = data; offset + 2 <= data + size; offset += 2) {
        samples.push_back(at<sword>(bytes, offset));
        if (channels == 1) samples.push_back(samples.back());
    }
    return samples;
}

WavWriter::~WavWriter() {
    if (file_ != nullptr) std::fclose(file_);
}

void WavWriter::open(const std::string& path) {
    file_ = std::fopen(path.c_str(), "wb");
    if (file_ == nullptr) throw std::runtime_error("cannot write the sound " + path + ": " + std::strerror(errno));
    write({});
}

void WavWriter::write(const std::vector<sword>& samples) {
    if (file_ == nullptr) return;
    const longword added = static_cast<longword>(samples.size() * sizeof(sword));
    char header[HEADER];
    make_header(header, bytes_ + added);
    std::fseek(file_, 0, SEEK_SET);
    std::fwrite(header, 1, HEADER, file_);
    std::fseek(file_, static_cast<long>(HEADER + bytes_), SEEK_SET);
    std::fwrite(samples.data(), sizeof(sword), samples.size(), file_);
    std::fflush(file_);
    bytes_ += added;
}

}  // namespace nutmeg::openr
