#ifndef NUTMEG_OPENR_ANTENVBASEMSG_H
#define NUTMEG_OPENR_ANTENVBASEMSG_H
#include <antEnvMsg.h>
#endif
