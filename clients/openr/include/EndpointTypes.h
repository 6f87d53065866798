// Kinds of endpoints.
#ifndef NUTMEG_OPENR_ENDPOINT_TYPES_H
#define NUTMEG_OPENR_ENDPOINT_TYPES_H

enum { EndpointType_TCP = 1, EndpointType_UDP = 2, EndpointType_DNS = 4, EndpointType_IP = 7 };

#endif
