// The operating-system calls that OPEN-R programs use: messages, time and shared memory.
#ifndef NUTMEG_OPENR_MCOOP_H
#define NUTMEG_OPENR_MCOOP_H

#include <OID.h>
#include <SystemError.h>
#include <SystemTime.h>
#include <Types.h>

extern "C" {
sError Send(OID dest, Selector selector, void* msg, size_t size);
sError Call(OID dest, Selector selector, void* msg, size_t size, void* reply = 0, size_t replySize = 0);
sError Reply(void* msg = 0, size_t size = 0);
void Return(void* msg = 0, size_t size = 0);
void Exit();

sError GetSystemTime(SystemTime* now);
sError Wait(longword nanoseconds);
sError SetTimeEvent(TimeEventInfo* info, OID dest, Selector selector, void* msg, size_t size, EventID* event);
sError CancelEvent(EventID event);

sError WhoAmI(OID* self);
sError Find(char* name, OID* object);

sError NewRegion(size_t size, void** base);
sError DeleteRegion(void* base);
sError NewSharedMemoryRegion(size_t size, MemoryProtectionInfo info, MemoryRegionID* id, void** base);
sError DeleteSharedMemoryRegion(MemoryRegionID id);
sError AttachMemoryRegion(MemoryRegionID id, MemoryProtectionInfo info, void** base);
sError DetachMemoryRegion(MemoryRegionID id);
sError AllowToAttachMemoryRegion(MemoryRegionID id, MemoryProtectionInfo info, OID dest, bool givingOwnership);
sError GetPageSize(size_t* size);
sError GetFreeMemorySize(size_t* size);
}

#endif
