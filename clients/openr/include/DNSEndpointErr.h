#ifndef NUTMEG_OPENR_DNS_ENDPOINT_ERR_H
#define NUTMEG_OPENR_DNS_ENDPOINT_ERR_H
#include <DNSEndpointMsg.h>
#endif
