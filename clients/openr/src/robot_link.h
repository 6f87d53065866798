// The two TCP connections to `nutmeg serve --protocol openr`, byte for byte as docs/reference/openr-wire.md says.
#ifndef NUTMEG_OPENR_ROBOT_LINK_H
#define NUTMEG_OPENR_ROBOT_LINK_H

#include <OPENR/ODataFormats.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kernel.h"

namespace nutmeg::openr {

struct Primitive {
    std::string locator;
    OPrimitiveID id = oprimitiveID_UNDEF;
    std::uint32_t kind = 0;
    ODataType sensor_type = 0;
    ODataType command_type = 0;
    word gains[6] = {};
};

const std::uint32_t KIND_JOINT2 = 1;

struct Design {
    std::string name;
    std::vector<Primitive> primitives;
    std::uint32_t frames_per_vector = 4;
    std::uint32_t image_width = 0;
    std::uint32_t image_height = 0;
    bool lock_step = false;
};

// A picture whose three planes have arrived.
struct Picture {
    OFbkImageInfo info;
    std::uint32_t field_counter = 0;
    Bytes planes[3];
};

struct CommandStatus {
    std::uint32_t sequence;
    std::uint32_t channel;
    std::uint32_t event;
    std::uint32_t frame;
};
const std::uint32_t STATUS_BEGUN = 1;
const std::uint32_t STATUS_FINISHED = 2;
const std::uint32_t STATUS_REFUSED = 4;

struct Address {
    std::string host = "127.0.0.1";
    int sensor_port = 10120;
    int command_port = 10121;
};

class RobotLink {
public:
    ~RobotLink() { close(); }

    // Connects and reads both DESIGN packets and the first sensor vector; throws std::runtime_error.
    void open(const Address& address);
    void close();
    bool is_open() const { return sensors_ >= 0; }
    const Design& design() const { return design_; }
    const Address& address() const { return address_; }
    const Primitive* find(const std::string& locator) const;
    const Primitive* find(OPrimitiveID id) const;

    // Starts reading; the functions are called in the link's own thread.
    std::function<void(Bytes)> on_sensors;
    std::function<void(Picture)> on_picture;
    std::function<void(const CommandStatus&)> on_status;
    std::function<void(const std::string&)> on_lost;
    void start();

    // The last frame of the last vector; false if this primitive is not in it.
    bool latest(OPrimitiveID id, OSensorValue* value) const;

    // Sends a command vector in a channel and answers its sequence number.
    std::uint32_t send_commands(std::uint32_t channel, OCommandVectorData& vector);
    void send_gains(OPrimitiveID id, const word gains[6]);
    void send_power(bool on);
    void send_camera(OPrimitiveRequest request, longword parameter);

private:
    struct Stream {
        Bytes pending;
        size_t wanted = 0;
    };
    struct Packet {
        std::uint32_t type = 0;
        std::uint32_t sequence = 0;
        Bytes bytes;
    };

    void read_design(int socket);
    Packet read_packet(int socket);
    bool take_packet(int socket, Stream& stream, bool wait, Packet* packet);
    void run();
    void drain_status();
    void handle_status(const Packet& packet);
    void handle_sensors(Packet packet);
    void handle_image(const Packet& packet);
    void keep_latest(const Bytes& vector);
    void send_step(std::uint32_t dealt_with);
    void send_packet(std::uint32_t type, std::uint32_t sequence, const Bytes& body);

    Design design_;
    Address address_;
    int sensors_ = -1;
    int commands_ = -1;
    Stream sensor_stream_;
    Stream command_stream_;
    Picture picture_;
    std::uint32_t picture_sequence_ = 0;
    int planes_ = 0;
    std::uint32_t next_sequence_ = 1;
    std::uint32_t first_vector_ = 0;
    std::mutex send_mutex_;
    mutable std::mutex latest_mutex_;
    std::map<OPrimitiveID, OSensorValue> latest_;
    std::atomic<bool> closing_{false};
    std::thread reader_;
};

RobotLink& robot_link();

}  // namespace nutmeg::openr

#endif
