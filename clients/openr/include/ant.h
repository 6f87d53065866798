#ifndef NUTMEG_OPENR_ANT_H
#define NUTMEG_OPENR_ANT_H
#include <antEnvMsg.h>
#endif
