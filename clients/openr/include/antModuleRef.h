#ifndef NUTMEG_OPENR_ANTMODULEREF_H
#define NUTMEG_OPENR_ANTMODULEREF_H
#include <antEnvMsg.h>
#endif
