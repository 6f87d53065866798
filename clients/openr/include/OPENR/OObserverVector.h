// The older name of an observer.
#ifndef NUTMEG_OPENR_OOBSERVERVECTOR_H
#define NUTMEG_OPENR_OOBSERVERVECTOR_H

#include <OPENR/OObserver.h>

typedef OObserver OObserverVector;

#endif
