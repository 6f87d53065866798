#ifndef NUTMEG_OPENR_OSHM_PTR_BASE_H
#define NUTMEG_OPENR_OSHM_PTR_BASE_H
#include <OPENR/OShmPtr.h>
#endif
