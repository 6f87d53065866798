// Sizes of OPEN-R's number types, kept at their robot widths (32-bit longword) on 64-bit hosts.
#ifndef NUTMEG_OPENR_TYPES_H
#define NUTMEG_OPENR_TYPES_H

#include <stddef.h>
#include <sys/types.h>

typedef unsigned char byte;
typedef unsigned short word;
typedef unsigned int longword;
typedef char sbyte;
typedef short sword;
typedef int slongword;
typedef byte* pbyte;
typedef word* pword;
typedef int* plongword;

typedef signed char int8;  // as int8_t of today: sources define one in terms of the other
typedef unsigned char uint8;
typedef short int16;
typedef unsigned short uint16;
typedef int int32;
typedef unsigned int uint32;
typedef long long int64;
typedef unsigned long long uint64;

typedef bool Boolean;
#ifndef TRUE
#define TRUE 1
#endif
#ifndef FALSE
#define FALSE 0
#endif

typedef slongword sError;
typedef longword Selector;
const Selector UNDEF = 0xffffffff;

typedef void (*Entry)(...);

typedef byte* VirtualAddress;
typedef void* PhysicalAddress;

typedef unsigned int MemoryRegionID;
typedef MemoryRegionID SharedMemoryRegionID;
enum MemoryProtectionInfo { MEMPROTINFO_INVALID = 0, MEMPROTINFO_R = 1, MEMPROTINFO_RW = 2 };
typedef MemoryProtectionInfo SharedMemoryProtectionInfo;

// Programs of that time read keys with gets(), which today's headers hide. The runner's takes at most 255 characters.
extern "C" char* gets(char* line);

#endif
