// What every object's stub exports: its entry points, each under a selector, ended by UNDEF.
#ifndef NUTMEG_OPENR_OBJECT_ENTRY_TABLE_H
#define NUTMEG_OPENR_OBJECT_ENTRY_TABLE_H

#include <Types.h>

struct ObjectEntry {
    Selector selector;
    Entry entry;
};

struct InitInfo;
extern "C" void Prologue(InitInfo*);
extern ObjectEntry ObjectEntryTable[];

#define ENTRY_UNDEF ((Entry)Prologue)

#endif
