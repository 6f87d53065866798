// What a UDP endpoint can be asked to do.
#ifndef NUTMEG_OPENR_UDPENDPOINT_MSG_H
#define NUTMEG_OPENR_UDPENDPOINT_MSG_H

#include <IPAddress.h>
#include <antEnvMsg.h>

enum UDPEndpointError {
    UDP_SUCCESS = 0,
    UDP_FAIL = 1,
    UDP_CONNECTION_CLOSED = 2,
    UDP_CONNECTION_BUSY = 3,
    UDP_ADDRESSINUSE = 4,
    UDP_ADDRESSERROR = 5,
    UDP_MESSAGE_TOO_LONG = 10,
    UDP_BUFFER_INVALID = 13,
    UDP_OPERATION_INVALID = 14,
    UDP_OPERATION_UNKNOWN = 15,
    UDP_WOULDBLOCK = 16
};

enum UDPEndpointOperation {
    UDPEndpoint_Operation_Bind = 0,
    UDPEndpoint_Operation_Connect = 1,
    UDPEndpoint_Operation_Send = 2,
    UDPEndpoint_Operation_Receive = 3,
    UDPEndpoint_Operation_Close = 4
};

struct UDPEndpointBaseMsg : public antEnvMsg {
    UDPEndpointError error;

    UDPEndpointBaseMsg() : error(UDP_FAIL) {}
    UDPEndpointBaseMsg(const antModuleRef& endpoint, UDPEndpointOperation what)
        : antEnvMsg(endpoint, what), error(UDP_FAIL) {}
};

struct UDPEndpointAddressedMsg : public UDPEndpointBaseMsg {
    IPAddress address;
    Port port;

    UDPEndpointAddressedMsg() : port(0) {}
    UDPEndpointAddressedMsg(const antModuleRef& endpoint, UDPEndpointOperation what, IPAddress where, Port number)
        : UDPEndpointBaseMsg(endpoint, what), address(where), port(number) {}
};

struct UDPEndpointBindMsg : public UDPEndpointAddressedMsg {
    UDPEndpointBindMsg() {}
    UDPEndpointBindMsg(const antModuleRef& endpoint, IPAddress where, Port number)
        : UDPEndpointAddressedMsg(endpoint, UDPEndpoint_Operation_Bind, where, number) {}
};

struct UDPEndpointConnectMsg : public UDPEndpointAddressedMsg {
    UDPEndpointConnectMsg() {}
    UDPEndpointConnectMsg(const antModuleRef& endpoint, IPAddress where, Port number)
        : UDPEndpointAddressedMsg(endpoint, UDPEndpoint_Operation_Connect, where, number) {}
};

struct UDPEndpointDataMsg : public UDPEndpointAddressedMsg {
    byte* buffer;
    int size;

    UDPEndpointDataMsg() : buffer(0), size(0) {}
    UDPEndpointDataMsg(const antModuleRef& endpoint, UDPEndpointOperation what, IPAddress where, Port number,
                       byte* data, int bytes)
        : UDPEndpointAddressedMsg(endpoint, what, where, number), buffer(data), size(bytes) {}
};

struct UDPEndpointSendMsg : public UDPEndpointDataMsg {
    UDPEndpointSendMsg() {}
    UDPEndpointSendMsg(const antModuleRef& endpoint, byte* data, int bytes)
        : UDPEndpointDataMsg(endpoint, UDPEndpoint_Operation_Send, 0, 0, data, bytes) {}
    UDPEndpointSendMsg(const antModuleRef& endpoint, IPAddress where, Port number, byte* data, int bytes)
        : UDPEndpointDataMsg(endpoint, UDPEndpoint_Operation_Send, where, number, data, bytes) {}
};

struct UDPEndpointReceiveMsg : public UDPEndpointDataMsg {
    UDPEndpointReceiveMsg() {}
    UDPEndpointReceiveMsg(const antModuleRef& endpoint, byte* data, int bytes)
        : UDPEndpointDataMsg(endpoint, UDPEndpoint_Operation_Receive, 0, 0, data, bytes) {}
};

struct UDPEndpointCloseMsg : public UDPEndpointBaseMsg {
    bool linger;
    int lingerTime;

    UDPEndpointCloseMsg() : linger(false), lingerTime(0) {}
    UDPEndpointCloseMsg(const antModuleRef& endpoint, bool lingers = false, int time = 0)
        : UDPEndpointBaseMsg(endpoint, UDPEndpoint_Operation_Close), linger(lingers), lingerTime(time) {}
};

#endif
