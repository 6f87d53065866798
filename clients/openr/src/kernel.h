// The small operating system under OPEN-R objects: every object is a task with a mailbox and a thread of its own, and
// all that happens to it is a message to one of its entries.
#ifndef NUTMEG_OPENR_KERNEL_H
#define NUTMEG_OPENR_KERNEL_H

#include <MCOOP.h>
#include <OPENR/OPENR.h>
#include <Types.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace nutmeg::openr {

using Handler = std::function<void(void*)>;
using Bytes = std::vector<unsigned char>;

// The answer to a Call, awaited by the caller.
struct Answer {
    std::mutex mutex;
    std::condition_variable arrived;
    bool done = false;
    Bytes bytes;

    void give(const void* data, size_t size);
    void wait();
    bool wait_for(std::chrono::seconds limit);
};

struct Message {
    Selector selector;
    Bytes bytes;
    std::shared_ptr<Answer> answer;
};

// One object: entries, mailbox, thread.
class Task {
public:
    Task(std::string name) : name_(std::move(name)) {}
    ~Task() { stop(); }

    const std::string& name() const { return name_; }
    OID oid() { return OID(this); }
    void set_entry(Selector selector, Handler handler) { entries_[selector] = std::move(handler); }
    void start();
    void stop();
    void post(Message message);
    // Answers the message that is being handled, if somebody waits for it.
    void reply(const void* data, size_t size);
    // Runs an entry of this task within the one that is running, as a Call to itself would.
    void call_own_entry(Selector selector, void* message, void* answer, size_t size);

private:
    void run();
    void handle(Message& message);

    std::string name_;
    std::map<Selector, Handler> entries_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Message> mailbox_;
    std::shared_ptr<Answer> answer_;
    bool stopping_ = false;
    std::thread thread_;
};

// The task whose code is running, or which is being loaded; null in the runtime's own threads.
Task* current_task();
void set_current_task(Task* task);

// Messages posted and not yet handled: zero means that all objects wait for something to happen.
class Activity {
public:
    void begin();
    void end();
    bool wait_until_idle(std::chrono::milliseconds limit);

private:
    std::mutex mutex_;
    std::condition_variable idle_;
    long pending_ = 0;
};
Activity& activity();

// Calls functions later, and again and again if they have a period.
class Timers {
public:
    using Clock = std::chrono::steady_clock;

    Timers();
    ~Timers();
    unsigned add(Clock::duration first, Clock::duration period, std::function<void()> action);
    void remove(unsigned id);

private:
    struct Timer {
        unsigned id;
        Clock::duration period;
        std::function<void()> action;
    };
    void run();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::multimap<Clock::time_point, Timer> timers_;
    unsigned next_id_ = 1;
    bool stopping_ = false;
    std::thread thread_;
};
Timers& timers();

// Service names ("Object.Name.Data.S") and the entries that objects registered for them.
class Services {
public:
    void add(const std::string& name, const OServiceEntry& entry);
    const OServiceEntry* find(const std::string& name) const;

private:
    mutable std::mutex mutex_;
    std::map<std::string, OServiceEntry> entries_;
};
Services& services();

// Shared memory regions by number.
MemoryRegionID new_region(size_t size, void** base);
void* region_base(MemoryRegionID id);
bool delete_region(MemoryRegionID id);

// Asks the program to end; the main thread stops the objects.
void request_end(int exit_status);

}  // namespace nutmeg::openr

#endif
