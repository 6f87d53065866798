#include "kernel.h"

#include <algorithm>
#include <cstring>

namespace nutmeg::openr {

namespace {
thread_local Task* running = nullptr;
}

Task* current_task() { return running; }
void set_current_task(Task* task) { running = task; }

void Answer::give(const void* data, size_t size) {
    std::lock_guard<std::mutex> lock(mutex);
    const auto* first = static_cast<const unsigned char*>(data);
    if (data != nullptr) bytes.assign(first, first + size);
    done = true;
    arrived.notify_all();
}

void Answer::wait() {
    std::unique_lock<std::mutex> lock(mutex);
    arrived.wait(lock, [this] { return done; });
}

bool Answer::wait_for(std::chrono::seconds limit) {
    std::unique_lock<std::mutex> lock(mutex);
    return arrived.wait_for(lock, limit, [this] { return done; });
}

void Task::start() {
    thread_ = std::thread([this] { run(); });
}

void Task::stop() {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        stopping_ = true;
        changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
}

void Task::post(Message message) {
    activity().begin();
    std::lock_guard<std::mutex> lock(mutex_);
    mailbox_.push_back(std::move(message));
    changed_.notify_all();
}

void Task::run() {
    running = this;
    for (;;) {
        Message message;
        {
            std::unique_lock<std::mutex> lock(mutex_);
            changed_.wait(lock, [this] { return stopping_ || !mailbox_.empty(); });
            if (stopping_) return;
            message = std::move(mailbox_.front());
            mailbox_.pop_front();
        }
        handle(message);
        activity().end();
    }
}

void Task::handle(Message& message) {
    answer_ = message.answer;
    const auto entry = entries_.find(message.selector);
    if (entry != entries_.end()) entry->second(message.bytes.empty() ? nullptr : message.bytes.data());
    // A caller must never wait for ever, even if the entry did not answer or does not exist.
    if (answer_ && !answer_->done) answer_->give(nullptr, 0);
    answer_.reset();
}

void Task::reply(const void* data, size_t size) {
    if (answer_) answer_->give(data, size);
}

void Task::call_own_entry(Selector selector, void* message, void* answer, size_t size) {
    const auto outer = answer_;
    answer_ = std::make_shared<Answer>();
    entries_.at(selector)(message);
    if (!answer_->bytes.empty()) std::memcpy(answer, answer_->bytes.data(), std::min(size, answer_->bytes.size()));
    answer_ = outer;
}

void Activity::begin() {
    std::lock_guard<std::mutex> lock(mutex_);
    ++pending_;
}

void Activity::end() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (--pending_ == 0) idle_.notify_all();
}

bool Activity::wait_until_idle(std::chrono::milliseconds limit) {
    std::unique_lock<std::mutex> lock(mutex_);
    return idle_.wait_for(lock, limit, [this] { return pending_ == 0; });
}

Activity& activity() {
    static Activity the_activity;
    return the_activity;
}

Timers::Timers() : thread_([this] { run(); }) {}

Timers::~Timers() {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        stopping_ = true;
        changed_.notify_all();
    }
    thread_.join();
}

unsigned Timers::add(Clock::duration first, Clock::duration period, std::function<void()> action) {
    std::lock_guard<std::mutex> lock(mutex_);
    const unsigned id = next_id_++;
    timers_.emplace(Clock::now() + first, Timer{id, period, std::move(action)});
    changed_.notify_all();
    return id;
}

void Timers::remove(unsigned id) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto at = timers_.begin(); at != timers_.end(); ++at) {
        if (at->second.id == id) {
            timers_.erase(at);
            return;
        }
    }
}

void Timers::run() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!stopping_) {
        if (timers_.empty()) {
            changed_.wait(lock);
            continue;
        }
        const auto due = timers_.begin()->first;
        if (Clock::now() < due) {
            changed_.wait_until(lock, due);
            continue;
        }
        Timer timer = timers_.begin()->second;
        timers_.erase(timers_.begin());
        if (timer.period > Clock::duration::zero()) timers_.emplace(due + timer.period, timer);
        lock.unlock();
        timer.action();
        lock.lock();
    }
}

Timers& timers() {
    static Timers the_timers;
    return the_timers;
}

void Services::add(const std::string& name, const OServiceEntry& entry) {
    std::lock_guard<std::mutex> lock(mutex_);
    entries_[name] = entry;
}

const OServiceEntry* Services::find(const std::string& name) const {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = entries_.find(name);
    return found == entries_.end() ? nullptr : &found->second;
}

Services& services() {
    static Services the_services;
    return the_services;
}

namespace {
std::mutex region_mutex;
std::map<MemoryRegionID, std::unique_ptr<unsigned char[]>> regions;
MemoryRegionID next_region = 1;
}  // namespace

MemoryRegionID new_region(size_t size, void** base) {
    std::lock_guard<std::mutex> lock(region_mutex);
    auto& memory = regions[next_region];
    memory = std::make_unique<unsigned char[]>(size == 0 ? 1 : size);  // zeroed
    *base = memory.get();
    return next_region++;
}

void* region_base(MemoryRegionID id) {
    std::lock_guard<std::mutex> lock(region_mutex);
    const auto found = regions.find(id);
    return found == regions.end() ? nullptr : found->second.get();
}

bool delete_region(MemoryRegionID id) {
    std::lock_guard<std::mutex> lock(region_mutex);
    return regions.erase(id) > 0;
}

}  // namespace nutmeg::openr
