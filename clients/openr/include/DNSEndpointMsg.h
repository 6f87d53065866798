// Looking up names of hosts.
#ifndef NUTMEG_OPENR_DNSENDPOINT_MSG_H
#define NUTMEG_OPENR_DNSENDPOINT_MSG_H

#include <IPAddress.h>
#include <antEnvMsg.h>
#include <string.h>

#define MAXNS 3
#define MAXDNAME 100

enum DNSEndpointError {
    DNS_SUCCESS = 0,
    DNS_FAIL,
    DNS_HOST_NOT_FOUND,
    DNS_TRY_AGAIN,
    DNS_NO_RECOVERY,
    DNS_NO_DATA,
    DNS_CONNECTION_CLOSED,
    DNS_CONNECTION_BUSY,
    DNS_INDEX_INVALID,
    DNS_BUFFER_INVALID,
    DNS_OPERATION_INVALID,
    DNS_OPERATION_UNKNOWN
};

enum DNSEndpointOperation {
    DNSEndpoint_Operation_SetServerAddresses = 0,
    DNSEndpoint_Operation_GetServerAddresses,
    DNSEndpoint_Operation_SetDefaultDomainName,
    DNSEndpoint_Operation_GetDefaultDomainName,
    DNSEndpoint_Operation_GetHostByName,
    DNSEndpoint_Operation_GetHostByAddr,
    DNSEndpoint_Operation_GetAddress,
    DNSEndpoint_Operation_GetAlias,
    DNSEndpoint_Operation_Close
};

struct DNSEndpointBaseMsg : public antEnvMsg {
    DNSEndpointError error;

    DNSEndpointBaseMsg() : error(DNS_FAIL) {}
    DNSEndpointBaseMsg(const antModuleRef& endpoint, DNSEndpointOperation what)
        : antEnvMsg(endpoint, what), error(DNS_FAIL) {}
};

// The host's resolver is used, whatever servers a program names.
struct DNSEndpointSetServerAddressesMsg : public DNSEndpointBaseMsg {
    int32 nscount;
    IPAddress addrList[MAXNS];

    DNSEndpointSetServerAddressesMsg() : nscount(0) {}
    DNSEndpointSetServerAddressesMsg(const antModuleRef& endpoint, int32 count, IPAddress* servers)
        : DNSEndpointBaseMsg(endpoint, DNSEndpoint_Operation_SetServerAddresses), nscount(count) {
        for (int i = 0; i < count && i < MAXNS; ++i) addrList[i] = servers[i];
    }
};

struct DNSEndpointGetServerAddressesMsg : public DNSEndpointBaseMsg {
    int32 nscount;
    IPAddress addrList[MAXNS];

    DNSEndpointGetServerAddressesMsg() : nscount(0) {}
    DNSEndpointGetServerAddressesMsg(const antModuleRef& endpoint)
        : DNSEndpointBaseMsg(endpoint, DNSEndpoint_Operation_GetServerAddresses), nscount(0) {}
};

struct DNSEndpointNamedMsg : public DNSEndpointBaseMsg {
    char name[MAXDNAME];

    DNSEndpointNamedMsg() { name[0] = 0; }
    DNSEndpointNamedMsg(const antModuleRef& endpoint, DNSEndpointOperation what, const char* text)
        : DNSEndpointBaseMsg(endpoint, what) {
        strncpy(name, text, MAXDNAME - 1);
        name[MAXDNAME - 1] = 0;
    }
};

struct DNSEndpointSetDefaultDomainNameMsg : public DNSEndpointNamedMsg {
    DNSEndpointSetDefaultDomainNameMsg() {}
    DNSEndpointSetDefaultDomainNameMsg(const antModuleRef& endpoint, const char* text)
        : DNSEndpointNamedMsg(endpoint, DNSEndpoint_Operation_SetDefaultDomainName, text) {}
};

struct DNSEndpointGetDefaultDomainNameMsg : public DNSEndpointNamedMsg {
    DNSEndpointGetDefaultDomainNameMsg() {}
    DNSEndpointGetDefaultDomainNameMsg(const antModuleRef& endpoint)
        : DNSEndpointNamedMsg(endpoint, DNSEndpoint_Operation_GetDefaultDomainName, "") {}
};

struct DNSEndpointHostMsg : public DNSEndpointNamedMsg {
    IPAddress server_address;
    IPAddress host_address;
    int n_address;
    int n_alias;

    DNSEndpointHostMsg() : n_address(0), n_alias(0) {}
    DNSEndpointHostMsg(const antModuleRef& endpoint, DNSEndpointOperation what, const char* text, IPAddress address)
        : DNSEndpointNamedMsg(endpoint, what, text), host_address(address), n_address(0), n_alias(0) {}
};

struct DNSEndpointGetHostByNameMsg : public DNSEndpointHostMsg {
    DNSEndpointGetHostByNameMsg() {}
    DNSEndpointGetHostByNameMsg(const antModuleRef& endpoint, const char* text)
        : DNSEndpointHostMsg(endpoint, DNSEndpoint_Operation_GetHostByName, text, 0) {}
};

struct DNSEndpointGetHostByAddrMsg : public DNSEndpointHostMsg {
    DNSEndpointGetHostByAddrMsg() {}
    DNSEndpointGetHostByAddrMsg(const antModuleRef& endpoint, IPAddress address)
        : DNSEndpointHostMsg(endpoint, DNSEndpoint_Operation_GetHostByAddr, "", address) {}
};

struct DNSEndpointGetAddressMsg : public DNSEndpointBaseMsg {
    int index;
    IPAddress address;

    DNSEndpointGetAddressMsg() : index(0) {}
    DNSEndpointGetAddressMsg(const antModuleRef& endpoint, int number)
        : DNSEndpointBaseMsg(endpoint, DNSEndpoint_Operation_GetAddress), index(number) {}
};

struct DNSEndpointGetAliasMsg : public DNSEndpointNamedMsg {
    int index;

    DNSEndpointGetAliasMsg() : index(0) {}
    DNSEndpointGetAliasMsg(const antModuleRef& endpoint, int number)
        : DNSEndpointNamedMsg(endpoint, DNSEndpoint_Operation_GetAlias, ""), index(number) {}
};

struct DNSEndpointCloseMsg : public DNSEndpointBaseMsg {
    DNSEndpointCloseMsg() {}
    DNSEndpointCloseMsg(const antModuleRef& endpoint) : DNSEndpointBaseMsg(endpoint, DNSEndpoint_Operation_Close) {}
};

#endif
