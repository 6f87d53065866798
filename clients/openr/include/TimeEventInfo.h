#ifndef NUTMEG_OPENR_TIMEEVENTINFO_H
#define NUTMEG_OPENR_TIMEEVENTINFO_H
#include <SystemTime.h>
#endif
