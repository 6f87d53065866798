#include "robot_link.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "The packets are little-endian and are read in place: this host needs byte swapping."
#endif

namespace nutmeg::openr {

namespace {

const size_t HEADER_SIZE = 32;
const size_t LARGEST_PACKET = 1 << 20;
const std::uint32_t MAGIC = 0x524f4d4e;  // "NMOR"
const std::uint16_t VERSION = 1;
const std::uint32_t NO_VECTOR_YET = 0xffffffff;

enum PacketType : std::uint32_t {
    DESIGN = 1,
    SENSORS = 2,
    IMAGE = 3,
    STATUS = 4,
    COMMANDS = 16,
    GAINS = 17,
    POWER = 18,
    CAMERA = 19,
    STEP = 20
};

template <class T>
T read_at(const Bytes& bytes, size_t offset) {
    if (offset + sizeof(T) > bytes.size()) throw std::runtime_error("a packet of the robot is too short");
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
}

std::uint32_t u32(const Bytes& bytes, size_t offset) { return read_at<std::uint32_t>(bytes, offset); }

template <class T>
void append(Bytes& bytes, const T& value) {
    const auto* first = reinterpret_cast<const unsigned char*>(&value);
    bytes.insert(bytes.end(), first, first + sizeof(T));
}

std::string text_at(const Bytes& bytes, size_t offset, size_t size) {
    if (offset + size > bytes.size()) throw std::runtime_error("a packet of the robot is too short");
    const char* first = reinterpret_cast<const char*>(bytes.data()) + offset;
    return std::string(first, strnlen(first, size));
}

int connect_to(const std::string& host, int port) {
    addrinfo hints;
    std::memset(&hints, 0, sizeof(hints));
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const std::string where = host + ":" + std::to_string(port);
    const int problem = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
    if (problem != 0) throw std::runtime_error("cannot find the robot at " + where + ": " + gai_strerror(problem));
    int socket_number = -1;
    int error = ECONNREFUSED;
    for (addrinfo* at = found; at != nullptr && socket_number < 0; at = at->ai_next) {
        socket_number = socket(at->ai_family, at->ai_socktype, at->ai_protocol);
        if (socket_number >= 0 && connect(socket_number, at->ai_addr, at->ai_addrlen) != 0) {
            error = errno;
            ::close(socket_number);
            socket_number = -1;
        }
    }
    freeaddrinfo(found);
    if (socket_number < 0) {
        throw std::runtime_error("cannot connect to the robot at " + where + ": " + std::strerror(error) +
                                 "; is `nutmeg serve --protocol openr` running?");
    }
    const int yes = 1;
    setsockopt(socket_number, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    return socket_number;
}

}  // namespace

void RobotLink::open(const Address& address) {
    address_ = address;
    sensors_ = connect_to(address.host, address.sensor_port);
    commands_ = connect_to(address.host, address.command_port);
    read_design(sensors_);
    read_design(commands_);
    send_step(NO_VECTOR_YET);
    for (Packet packet; packet.type != SENSORS;) {
        packet = read_packet(sensors_);
        if (packet.type != SENSORS) continue;
        keep_latest(packet.bytes);
        first_vector_ = packet.sequence;
    }
}

// In lock-step the robot's time stands still until this; otherwise there is nothing to say.
void RobotLink::send_step(std::uint32_t dealt_with) {
    if (!design_.lock_step) return;
    Bytes body;
    append(body, dealt_with);
    send_packet(STEP, 0, body);
}

void RobotLink::close() {
    closing_ = true;
    if (reader_.joinable()) {
        shutdown(sensors_, SHUT_RDWR);
        if (reader_.get_id() == std::this_thread::get_id()) {
            reader_.detach();
        } else {
            reader_.join();
        }
    }
    if (sensors_ >= 0) ::close(sensors_);
    if (commands_ >= 0) ::close(commands_);
    sensors_ = commands_ = -1;
}

void RobotLink::read_design(int socket) {
    const Packet packet = read_packet(socket);
    if (packet.type != DESIGN) throw std::runtime_error("the robot's first packet is not its design");
    Design design;
    design.name = text_at(packet.bytes, 32, 32);
    const std::uint32_t count = u32(packet.bytes, 64);
    design.frames_per_vector = u32(packet.bytes, 76);
    design.image_width = u32(packet.bytes, 80);
    design.image_height = u32(packet.bytes, 84);
    design.lock_step = u32(packet.bytes, 92) != 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const size_t at = 96 + 160 * static_cast<size_t>(i);
        Primitive primitive;
        primitive.locator = text_at(packet.bytes, at, 128);
        primitive.id = u32(packet.bytes, at + 128);
        primitive.kind = u32(packet.bytes, at + 132);
        primitive.sensor_type = u32(packet.bytes, at + 136);
        primitive.command_type = u32(packet.bytes, at + 140);
        for (int gain = 0; gain < 6; ++gain) primitive.gains[gain] = read_at<word>(packet.bytes, at + 144 + 2 * gain);
        design.primitives.push_back(primitive);
    }
    design_ = design;
}

const Primitive* RobotLink::find(const std::string& locator) const {
    for (const Primitive& primitive : design_.primitives) {
        if (primitive.locator == locator) return &primitive;
    }
    return nullptr;
}

const Primitive* RobotLink::find(OPrimitiveID id) const {
    for (const Primitive& primitive : design_.primitives) {
        if (primitive.id == id) return &primitive;
    }
    return nullptr;
}

RobotLink::Packet RobotLink::read_packet(int socket) {
    Packet packet;
    take_packet(socket, socket == sensors_ ? sensor_stream_ : command_stream_, true, &packet);
    return packet;
}

// Takes the next whole packet off a stream; without `wait`, answers false when it is not all there yet.
bool RobotLink::take_packet(int socket, Stream& stream, bool wait, Packet* packet) {
    Bytes& bytes = stream.pending;
    for (;;) {
        stream.wanted = bytes.size() < HEADER_SIZE ? HEADER_SIZE : u32(bytes, 8);
        if (bytes.size() >= HEADER_SIZE) {
            if (u32(bytes, 0) != MAGIC || read_at<std::uint16_t>(bytes, 4) != VERSION) {
                throw std::runtime_error("what the server sends is not version 1 of the OPEN-R packets");
            }
            if (stream.wanted < HEADER_SIZE || stream.wanted > LARGEST_PACKET) {
                throw std::runtime_error("a packet of the robot has an impossible length");
            }
            if (bytes.size() == stream.wanted) break;
        }
        const size_t have = bytes.size();
        bytes.resize(stream.wanted);
        const ssize_t got = recv(socket, bytes.data() + have, stream.wanted - have, wait ? 0 : MSG_DONTWAIT);
        bytes.resize(have + (got > 0 ? static_cast<size_t>(got) : 0));
        if (got == 0) throw std::runtime_error("the server closed the connection");
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
        if (got < 0) throw std::runtime_error(std::string("the connection broke: ") + std::strerror(errno));
    }
    packet->type = read_at<std::uint16_t>(bytes, 6);
    packet->sequence = u32(bytes, 16);
    packet->bytes = std::move(bytes);
    bytes.clear();
    return true;
}

void RobotLink::start() {
    send_step(first_vector_);
    reader_ = std::thread([this] { run(); });
}

void RobotLink::run() {
    try {
        while (!closing_) {
            pollfd sockets[2] = {{sensors_, POLLIN, 0}, {commands_, POLLIN, 0}};
            if (poll(sockets, 2, 100) <= 0) continue;
            drain_status();
            Packet packet;
            while (!closing_ && take_packet(sensors_, sensor_stream_, false, &packet)) {
                // What became of commands in these frames was sent before their sensors: it is told first, too.
                drain_status();
                if (packet.type == SENSORS) handle_sensors(std::move(packet));
                if (packet.type == IMAGE) handle_image(packet);
                packet = Packet();
            }
        }
    } catch (const std::exception& problem) {
        if (!closing_ && on_lost) on_lost(problem.what());
    }
}

void RobotLink::drain_status() {
    Packet packet;
    while (take_packet(commands_, command_stream_, false, &packet)) {
        if (packet.type == STATUS) handle_status(packet);
    }
}

void RobotLink::handle_status(const Packet& packet) {
    const CommandStatus status = {u32(packet.bytes, 32), u32(packet.bytes, 36), u32(packet.bytes, 40),
                                  u32(packet.bytes, 44)};
    if (on_status) on_status(status);
}

void RobotLink::handle_sensors(Packet packet) {
    keep_latest(packet.bytes);
    packet.bytes.erase(packet.bytes.begin(), packet.bytes.begin() + HEADER_SIZE);
    const std::uint32_t sequence = packet.sequence;
    if (on_sensors) on_sensors(std::move(packet.bytes));
    if (!design_.lock_step) return;
    // In lock-step the next frames begin when every object has done its work.
    while (!closing_ && !activity().wait_until_idle(std::chrono::milliseconds(100))) {
    }
    send_step(sequence);
}

void RobotLink::handle_image(const Packet& packet) {
    const std::uint32_t plane = u32(packet.bytes, 64);
    if (plane == 0 || packet.sequence != picture_sequence_) {
        planes_ = 0;
        picture_sequence_ = packet.sequence;
    }
    if (plane > 2) return;
    picture_.info = read_at<OFbkImageInfo>(packet.bytes, 32);
    picture_.field_counter = u32(packet.bytes, 72);
    picture_.planes[plane].assign(packet.bytes.begin() + 80, packet.bytes.end());
    if (++planes_ == 3 && on_picture) on_picture(std::move(picture_));
}

void RobotLink::keep_latest(const Bytes& packet) {
    const size_t vector = HEADER_SIZE;
    const std::uint32_t count = u32(packet, vector + 32);
    std::lock_guard<std::mutex> lock(latest_mutex_);
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto info = read_at<OSensorFrameInfo>(packet, vector + 192 + 32 * static_cast<size_t>(i));
        if (info.numFrames == 0) continue;
        const size_t last = vector + info.dataOffset + sizeof(OSensorValue) * (info.numFrames - 1);
        latest_[info.primitiveID] = read_at<OSensorValue>(packet, last);
    }
}

bool RobotLink::latest(OPrimitiveID id, OSensorValue* value) const {
    std::lock_guard<std::mutex> lock(latest_mutex_);
    const auto found = latest_.find(id);
    if (found == latest_.end()) return false;
    *value = found->second;
    return true;
}

void RobotLink::send_packet(std::uint32_t type, std::uint32_t sequence, const Bytes& body) {
    if (commands_ < 0) return;
    Bytes packet;
    append(packet, MAGIC);
    append(packet, VERSION);
    append(packet, static_cast<std::uint16_t>(type));
    append(packet, static_cast<std::uint32_t>(HEADER_SIZE + body.size()));
    append(packet, std::uint32_t{0});
    append(packet, sequence);
    append(packet, std::uint32_t{0});
    append(packet, std::uint64_t{0});
    packet.insert(packet.end(), body.begin(), body.end());
    std::lock_guard<std::mutex> lock(send_mutex_);
    for (size_t sent = 0; sent < packet.size();) {
        const ssize_t put = send(commands_, packet.data() + sent, packet.size() - sent, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return;  // the reader notices that the connection is gone, and says so
        sent += static_cast<size_t>(put);
    }
}

std::uint32_t RobotLink::send_commands(std::uint32_t channel, OCommandVectorData& vector) {
    const ODataVectorInfo& head = vector.vectorInfo;
    const std::uint32_t optional = head.optOffset + head.optSize <= odataOPTIONAL_MAX ? head.optSize : 0;
    Bytes body;
    append(body, channel);
    append(body, head.wait);
    append(body, head.syncKey == ovrsynckeyUNDEF ? 0u : head.syncKey);
    append(body, head.numData);
    append(body, head.optOffset);
    append(body, optional);
    const byte* extra = head.optional + (optional > 0 ? head.optOffset : 0);
    body.insert(body.end(), extra, extra + optional);
    body.resize((body.size() + 3) / 4 * 4);
    for (longword i = 0; i < head.numData; ++i) {
        const OCommandInfo& info = *vector.GetInfo(static_cast<int>(i));
        const OCommandData& data = *vector.GetData(static_cast<int>(i));
        append(body, info.type);
        append(body, info.primitiveID);
        const longword frames = std::min<longword>(info.numFrames, ocommandMAX_FRAMES);
        append(body, frames);
        for (longword frame = 0; frame < frames; ++frame) append(body, data.value[frame]);
    }
    std::uint32_t sequence;
    {
        std::lock_guard<std::mutex> lock(latest_mutex_);
        sequence = next_sequence_++;
    }
    send_packet(COMMANDS, sequence, body);
    return sequence;
}

void RobotLink::send_gains(OPrimitiveID id, const word gains[6]) {
    Bytes body;
    append(body, std::uint32_t{1});
    append(body, id);
    for (int i = 0; i < 6; ++i) append(body, gains[i]);
    send_packet(GAINS, 0, body);
}

void RobotLink::send_power(bool on) {
    Bytes body;
    append(body, std::uint32_t{on ? 1u : 0u});
    send_packet(POWER, 0, body);
}

void RobotLink::send_camera(OPrimitiveRequest request, longword parameter) {
    Bytes body;
    append(body, request);
    append(body, parameter);
    send_packet(CAMERA, 0, body);
}

RobotLink& robot_link() {
    static RobotLink the_link;
    return the_link;
}

}  // namespace nutmeg::openr
