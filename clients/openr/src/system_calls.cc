// MCOOP.h on the host.
#include <MCOOP.h>
#include <ObjectEntryTable.h>
#include <apsys.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>

#include "kernel.h"

using nutmeg::openr::Answer;
using nutmeg::openr::Bytes;
using nutmeg::openr::Message;
using nutmeg::openr::Task;

namespace {
const auto started = std::chrono::steady_clock::now();

Task* task_of(OID oid) { return oid.IsValid() ? static_cast<Task*>(oid.GetAddress()) : nullptr; }

Bytes copied(const void* data, size_t size) {
    const auto* first = static_cast<const unsigned char*>(data);
    return data == nullptr ? Bytes() : Bytes(first, first + size);
}
}  // namespace

sError Send(OID dest, Selector selector, void* msg, size_t size) {
    Task* task = task_of(dest);
    if (task == nullptr) return sINVALIDOID;
    task->post(Message{selector, copied(msg, size), nullptr});
    return sSUCCESS;
}

sError Call(OID dest, Selector selector, void* msg, size_t size, void* reply, size_t replySize) {
    Task* task = task_of(dest);
    if (task == nullptr) return sINVALIDOID;
    auto answer = std::make_shared<Answer>();
    task->post(Message{selector, copied(msg, size), answer});
    answer->wait();
    if (reply != nullptr && !answer->bytes.empty()) {
        std::memcpy(reply, answer->bytes.data(), std::min(replySize, answer->bytes.size()));
    }
    return sSUCCESS;
}

sError Reply(void* msg, size_t size) {
    Task* task = nutmeg::openr::current_task();
    if (task == nullptr) return sFAIL;
    task->reply(msg, size);
    return sSUCCESS;
}

void Return(void* msg, size_t size) { Reply(msg, size); }

// Entries end by returning; there is nothing left to do here.
void Exit() {}
void Prologue(InitInfo*) {}

sError GetSystemTime(SystemTime* now) {
    using namespace std::chrono;
    const auto us = duration_cast<microseconds>(steady_clock::now() - started).count();
    *now = SystemTime(static_cast<longword>(us / 1000000), static_cast<longword>(us % 1000000));
    return sSUCCESS;
}

sError Wait(longword nanoseconds) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(nanoseconds));
    return sSUCCESS;
}

sError SetTimeEvent(TimeEventInfo* info, OID dest, Selector selector, void* msg, size_t size, EventID* event) {
    using namespace std::chrono;
    if (task_of(dest) == nullptr) return sINVALIDOID;
    const auto first = seconds(info->relativeTime.sec) + milliseconds(info->relativeTime.msec);
    const auto period = seconds(info->periodicTime.sec) + milliseconds(info->periodicTime.msec);
    Bytes bytes = copied(msg, size);
    const unsigned id = nutmeg::openr::timers().add(
        first, period, [dest, selector, bytes] { task_of(dest)->post(Message{selector, bytes, nullptr}); });
    if (event != nullptr) event->SetValue(id);
    return sSUCCESS;
}

sError CancelEvent(EventID event) {
    nutmeg::openr::timers().remove(event.GetValue());
    return sSUCCESS;
}

sError WhoAmI(OID* self) {
    Task* task = nutmeg::openr::current_task();
    if (task == nullptr) return sFAIL;
    *self = task->oid();
    return sSUCCESS;
}

sError Find(char*, OID*) { return sNOTSUPPORTED; }

sError NewRegion(size_t size, void** base) {
    *base = std::calloc(1, size);
    return *base == nullptr ? sNOMEMORY : sSUCCESS;
}

sError DeleteRegion(void* base) {
    std::free(base);
    return sSUCCESS;
}

sError NewSharedMemoryRegion(size_t size, MemoryProtectionInfo, MemoryRegionID* id, void** base) {
    *id = nutmeg::openr::new_region(size, base);
    return sSUCCESS;
}

sError DeleteSharedMemoryRegion(MemoryRegionID id) { return nutmeg::openr::delete_region(id) ? sSUCCESS : sINVALIDARG; }

sError AttachMemoryRegion(MemoryRegionID id, MemoryProtectionInfo, void** base) {
    *base = nutmeg::openr::region_base(id);
    return *base == nullptr ? sINVALIDARG : sSUCCESS;
}

sError DetachMemoryRegion(MemoryRegionID) { return sSUCCESS; }
sError AllowToAttachMemoryRegion(MemoryRegionID, MemoryProtectionInfo, OID, bool) { return sSUCCESS; }

sError GetPageSize(size_t* size) {
    *size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    return sSUCCESS;
}

sError GetFreeMemorySize(size_t* size) {
    *size = static_cast<size_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
    return sSUCCESS;
}

int apsysWrite(int file, const void* data, int size) { return static_cast<int>(write(file, data, size)); }
int apsysRead(int file, void* data, int size) { return static_cast<int>(read(file, data, size)); }
void apsysPut(const char* text) { std::fputs(text, stdout); }
void apsysPutHex(unsigned int value) { std::printf("%08x", value); }
