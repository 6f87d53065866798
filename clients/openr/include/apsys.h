// Entry points written by hand: on the host an entry is a function that takes the message.
#ifndef NUTMEG_OPENR_APSYS_H
#define NUTMEG_OPENR_APSYS_H

#define GEN_ENTRY(ENTRYNAME, FUNNAME)                                                                  \
    extern "C" void ENTRYNAME(void* message) { reinterpret_cast<void (*)(void*)>(&FUNNAME)(message); } \
    extern "C" void ENTRYNAME(void* message)

extern "C" int apsysWrite(int file, const void* data, int size);
extern "C" int apsysRead(int file, void* data, int size);
extern "C" void apsysPut(const char* text);
extern "C" void apsysPutHex(unsigned int value);

#endif
