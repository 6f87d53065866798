// The old name of OObserverInfo.
#ifndef NUTMEG_OPENR_OBSERVER_INFO_H
#define NUTMEG_OPENR_OBSERVER_INFO_H
#include <OPENR/OObserverInfo.h>
typedef OObserverInfo ObserverInfo;
#endif
