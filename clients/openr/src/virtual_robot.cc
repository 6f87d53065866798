#include "virtual_robot.h"

#include <OPENR/OPENRServices.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "image_layers.h"

namespace nutmeg::openr {

namespace {

enum Selectors : Selector {
    EFFECTOR_CONNECT = 4,
    EFFECTOR_NOTIFY,
    SENSOR_CONTROL,
    SENSOR_READY,
    IMAGE_CONTROL,
    IMAGE_READY,
    SENSORS_ARRIVED,
    PICTURE_ARRIVED,
    STATUS_ARRIVED,
    BE_READY
};

// READY comes this many frames before the end of a vector (one sensor vector), so that the next is there in time.
const std::uint32_t AHEAD = 4;
const size_t MOST_CHANNELS = 16;
const size_t MOST_PICTURES = 2;
const std::uint32_t UNKNOWN_LENGTH = 0xffffffff;

// Frames a vector lasts, where that can be said beforehand: lights have periods of their own.
std::uint32_t length_of(OCommandVectorData& vector) {
    std::uint32_t longest = 1;
    for (longword i = 0; i < vector.vectorInfo.numData; ++i) {
        const OCommandInfo& info = *vector.GetInfo(static_cast<int>(i));
        if (info.type != odataJOINT_COMMAND2 && info.type != odataJOINT_COMMAND) return UNKNOWN_LENGTH;
        longest = std::max(longest, info.numFrames);
    }
    return longest;
}

}  // namespace

// Once: a program that sends one such vector sends many.
void VirtualRobot::tell_refused() {
    if (refused_++ > 0) return;
    std::fprintf(stderr, "runtime: the robot refused a command vector; its server says why\n");
}

VirtualRobot::VirtualRobot() : task_("OVirtualRobotComm") {
    sensors_.SetReadyEntry(OServiceEntry(task_.oid(), SENSOR_READY));
    images_.SetReadyEntry(OServiceEntry(task_.oid(), IMAGE_READY));
    effector_.SetNotifyEntry(OServiceEntry(task_.oid(), EFFECTOR_NOTIFY));
    effector_.SetBufCtrlParam(0, 1, MAX_NUM_DATA);
    services().add(ovrcommSENSOR, OServiceEntry(task_.oid(), SENSOR_CONTROL));
    services().add(ovrcommFBK, OServiceEntry(task_.oid(), IMAGE_CONTROL));
    services().add(ovrcommEFFECTOR, OServiceEntry(task_.oid(), EFFECTOR_CONNECT));
    set_entries();
}

void VirtualRobot::set_entries() {
    task_.set_entry(EFFECTOR_CONNECT, [this](void* m) { effector_.ConnectHandler(*static_cast<OConnectMessage*>(m)); });
    task_.set_entry(EFFECTOR_NOTIFY, [this](void* m) { handle_commands(*static_cast<ONotifyMessage*>(m)); });
    task_.set_entry(SENSOR_CONTROL, [this](void* m) { sensors_.ControlHandler(*static_cast<OControlMessage*>(m)); });
    task_.set_entry(SENSOR_READY, [this](void* m) { sensors_.ReadyHandler(*static_cast<OReadyMessage*>(m)); });
    task_.set_entry(IMAGE_CONTROL, [this](void* m) { images_.ControlHandler(*static_cast<OControlMessage*>(m)); });
    task_.set_entry(IMAGE_READY, [this](void* m) { images_.ReadyHandler(*static_cast<OReadyMessage*>(m)); });
    task_.set_entry(STATUS_ARRIVED, [this](void* m) { handle_status(*static_cast<CommandStatus*>(m)); });
    task_.set_entry(BE_READY, [this](void*) { effector_.AssertReady(); });
    task_.set_entry(SENSORS_ARRIVED, [this](void*) {
        Bytes vector;
        {
            std::lock_guard<std::mutex> lock(inbox_mutex_);
            vector = std::move(arrived_sensors_.front());
            arrived_sensors_.pop_front();
        }
        handle_sensors(std::move(vector));
    });
    task_.set_entry(PICTURE_ARRIVED, [this](void*) {
        Picture picture;
        {
            std::lock_guard<std::mutex> lock(inbox_mutex_);
            if (arrived_pictures_.empty()) return;  // dropped: this object was too slow
            picture = std::move(arrived_pictures_.front());
            arrived_pictures_.pop_front();
        }
        handle_picture(picture);
    });
}

void VirtualRobot::start() { task_.start(); }

void VirtualRobot::be_ready() { Send(task_.oid(), BE_READY, nullptr, 0); }

void VirtualRobot::connect_link(RobotLink& link) {
    link_ = &link;
    link.on_sensors = [this](Bytes vector) {
        {
            std::lock_guard<std::mutex> lock(inbox_mutex_);
            arrived_sensors_.push_back(std::move(vector));
        }
        Send(task_.oid(), SENSORS_ARRIVED, nullptr, 0);
    };
    link.on_picture = [this](Picture picture) {
        {
            std::lock_guard<std::mutex> lock(inbox_mutex_);
            arrived_pictures_.push_back(std::move(picture));
            if (arrived_pictures_.size() > MOST_PICTURES) arrived_pictures_.pop_front();
        }
        Send(task_.oid(), PICTURE_ARRIVED, nullptr, 0);
    };
    link.on_status = [this](const CommandStatus& status) {
        CommandStatus copy = status;
        Send(task_.oid(), STATUS_ARRIVED, &copy, sizeof(copy));
    };
}

VirtualRobot::Channel& VirtualRobot::channel_of(const SubjectID& subject) {
    for (Channel& channel : channels_) {
        if (channel.subject == subject) return channel;
    }
    const size_t number = std::min(channels_.size(), MOST_CHANNELS - 1);
    channels_.push_back(Channel{subject, static_cast<std::uint32_t>(number), {}});
    return channels_.back();
}

void VirtualRobot::handle_commands(const ONotifyMessage& message) {
    ONotifyEvent event;
    effector_.NotifyHandler(message, &event);
    Channel& channel = channel_of(message.subjectID);
    for (int i = 0; i < event.NumOfData(); ++i) {
        RCRegion* region = event.RCData(i);
        auto* vector = reinterpret_cast<OCommandVectorData*>(region->Base());
        region->AddReference();
        Flight flight = {0, length_of(*vector), region, false, 0};
        if (link_ != nullptr) flight.sequence = link_->send_commands(channel.number, *vector);
        channel.flights.push_back(flight);
        if (link_ == nullptr) finish_first(channel);
    }
}

void VirtualRobot::finish_first(Channel& channel) {
    channel.flights.front().region->RemoveReference();
    channel.flights.pop_front();
    effector_.AssertReady(channel.subject);
}

void VirtualRobot::handle_status(const CommandStatus& status) {
    for (Channel& channel : channels_) {
        auto& flights = channel.flights;
        const auto flight = std::find_if(flights.begin(), flights.end(),
                                         [&](const Flight& f) { return f.sequence == status.sequence; });
        if (flight == flights.end()) continue;
        if (status.event == STATUS_REFUSED) tell_refused();
        if (status.event == STATUS_BEGUN) {
            flight->begun = true;
            flight->begun_frame = status.frame;
        } else {
            flight->region->RemoveReference();
            flights.erase(flight);
            effector_.AssertReady(channel.subject);
        }
        break;
    }
    finish_what_is_nearly_done();
}

void VirtualRobot::finish_what_is_nearly_done() {
    for (Channel& channel : channels_) {
        if (channel.flights.empty()) continue;
        const Flight& first = channel.flights.front();
        if (!first.begun || first.frames == UNKNOWN_LENGTH) continue;
        if (std::max(next_frame_, first.begun_frame) + AHEAD >= first.begun_frame + first.frames) finish_first(channel);
    }
}

// An observer that is not ready misses old data and gets the newest when it is.
void VirtualRobot::send_to_observers(OSubject& subject, RCRegion* region) {
    for (auto observer = subject.begin(); observer != subject.end(); ++observer) {
        if (!subject.IsReady(*observer)) subject.ClearBuffer(*observer);
    }
    subject.SetData(region);
    subject.NotifyObservers();
    region->RemoveReference();
}

void VirtualRobot::handle_sensors(Bytes bytes) {
    RCRegion* region = new RCRegion(bytes.size());
    std::memcpy(region->Base(), bytes.data(), bytes.size());
    auto* vector = reinterpret_cast<OSensorFrameVectorData*>(region->Base());
    vector->vectorInfo.memRegionID = region->MemID();
    if (vector->vectorInfo.syncKey == 0) vector->vectorInfo.syncKey = ovrsynckeyUNDEF;
    if (vector->vectorInfo.numData > 0) next_frame_ = vector->info[0].frameNumber + vector->info[0].numFrames;
    finish_what_is_nearly_done();
    send_to_observers(sensors_, region);
}

void VirtualRobot::handle_picture(const Picture& picture) {
    if (images_.NumberOfObservers() == 0) return;
    const size_t pixels = static_cast<size_t>(picture.info.width) * picture.info.height;
    for (const Bytes& plane : picture.planes) {
        if (plane.size() != pixels || pixels == 0) return;
    }
    RCRegion* region = new RCRegion(image_vector_size(picture.info.width, picture.info.height));
    auto* vector = reinterpret_cast<OFbkImageVectorData*>(region->Base());
    lay_out_image_vector(*vector, picture.info.width, picture.info.height);
    vector->vectorInfo.memRegionID = region->MemID();
    fill_image_vector(*vector, picture);
    send_to_observers(images_, region);
}

}  // namespace nutmeg::openr
