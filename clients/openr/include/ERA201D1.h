// The wireless card ERA-201D1, and what the ERS-7 has built in.
#ifndef NUTMEG_OPENR_ERA201D1_H
#define NUTMEG_OPENR_ERA201D1_H

#include <EtherDriverMsg.h>
#include <WLANDriverMsg.h>

extern "C" {
EtherStatus ERA201D1_GetMACAddress(EtherDriverGetMACAddressMsg* msg);
EtherStatus ERA201D1_GetEtherStatistics(EtherDriverGetStatisticsMsg* msg);
EtherStatus ERA201D1_GetWLANSettings(EtherDriverGetWLANSettingsMsg* msg);
EtherStatus ERA201D1_GetWLANStatistics(EtherDriverGetWLANStatisticsMsg* msg);
}

#endif
