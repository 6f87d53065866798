#ifndef NUTMEG_OPENR_TIME_A_H
#define NUTMEG_OPENR_TIME_A_H
#include <SystemTime.h>
#endif
