// Names of the kinds of files in a data archive (.ODA).
#ifndef NUTMEG_OPENR_ODATA_ARCHIVE_H
#define NUTMEG_OPENR_ODATA_ARCHIVE_H

#include <OPENR/OStatus.h>
#include <Types.h>

typedef longword ODataArchiveMagic;
const ODataArchiveMagic odamagicUNDEF = 0xffffffff;
const ODataArchiveMagic odamagicOSND = 0x444e534f;
const ODataArchiveMagic odamagicODAR = 0x5241444f;
const ODataArchiveMagic odamagicOMTN = 0x4e544d4f;
const ODataArchiveMagic odamagicWAVE = 0x45564157;
const ODataArchiveMagic odamagicMIDI = 0x4944494d;
const ODataArchiveMagic odamagicLED = 0x0044454c;
const ODataArchiveMagic odamagicSYN = 0x004e5953;
const ODataArchiveMagic odamagicSTT = 0x00545453;

typedef longword ODataArchiveID;
const ODataArchiveID odaID_UNDEF = 0xffffffff;

#endif
