#ifndef NUTMEG_OPENR_EVENTID_H
#define NUTMEG_OPENR_EVENTID_H
#include <SystemTime.h>
#endif
