// Printing that is only there with OPENR_DEBUG.
#ifndef NUTMEG_OPENR_ODEBUG_H
#define NUTMEG_OPENR_ODEBUG_H

#include <stdio.h>

#ifdef OPENR_NO_DEBUG
#undef OPENR_DEBUG
#endif

#define PRINTF(arguments) (printf arguments)
#ifdef OPENR_DEBUG
#define ODEBUG(statement) (statement)
#define DPRINTF(arguments) (printf arguments)
#define DPRINTF2(when, arguments)     \
    {                                 \
        if (when) (printf arguments); \
    }
#else
#define ODEBUG(statement)
#define DPRINTF(arguments)
#define DPRINTF2(when, arguments)
#endif

#endif
