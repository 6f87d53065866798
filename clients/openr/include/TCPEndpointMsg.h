// What a TCP endpoint can be asked to do.
#ifndef NUTMEG_OPENR_TCPENDPOINT_MSG_H
#define NUTMEG_OPENR_TCPENDPOINT_MSG_H

#include <IPAddress.h>
#include <antEnvMsg.h>

enum TCPEndpointError {
    TCP_SUCCESS = 0,
    TCP_FAIL = 1,
    TCP_CONNECTION_CLOSED = 2,
    TCP_CONNECTION_RESET = 3,
    TCP_CONNECTION_TIMEOUT = 4,
    TCP_CONNECTION_BUSY = 5,
    TCP_ADDRESSINUSE = 6,
    TCP_ADDRESSERROR = 7,
    TCP_PORT_UNREACHABLE = 8,
    TCP_PROTOCOL_UNREACHABLE = 9,
    TCP_HOST_UNREACHABLE = 10,
    TCP_NETWORK_UNREACHABLE = 11,
    TCP_MESSAGE_TOO_LONG = 12,
    TCP_TTL_EXCEEDED = 13,
    TCP_TIME_EXCEEDED = 14,
    TCP_WOULDBLOCK = 15,
    TCP_BUFFER_INVALID = 16,
    TCP_OPERATION_INVALID = 17,
    TCP_OPERATION_UNKNOWN = 18
};

enum TCPEndpointOperation {
    TCPEndpoint_Operation_Bind = 1,
    TCPEndpoint_Operation_Listen = 2,
    TCPEndpoint_Operation_Connect = 3,
    TCPEndpoint_Operation_Send = 4,
    TCPEndpoint_Operation_Receive = 5,
    TCPEndpoint_Operation_Close = 6
};

struct TCPEndpointBaseMsg : public antEnvMsg {
    TCPEndpointError error;

    TCPEndpointBaseMsg() : error(TCP_FAIL) {}
    TCPEndpointBaseMsg(const antModuleRef& endpoint, TCPEndpointOperation what)
        : antEnvMsg(endpoint, what), error(TCP_FAIL) {}
};

// The two ends of a connection: l is this one, f the other.
struct TCPEndpointAddressedMsg : public TCPEndpointBaseMsg {
    IPAddress lAddress;
    Port lPort;
    IPAddress fAddress;
    Port fPort;

    TCPEndpointAddressedMsg() : lPort(0), fPort(0) {}
    TCPEndpointAddressedMsg(const antModuleRef& endpoint, TCPEndpointOperation what, IPAddress here, Port port,
                            IPAddress there, Port farPort)
        : TCPEndpointBaseMsg(endpoint, what), lAddress(here), lPort(port), fAddress(there), fPort(farPort) {}
};

struct TCPEndpointListenMsg : public TCPEndpointAddressedMsg {
    TCPEndpointListenMsg() {}
    TCPEndpointListenMsg(const antModuleRef& endpoint, IPAddress here = 0, Port port = 0, IPAddress there = 0,
                         Port farPort = 0)
        : TCPEndpointAddressedMsg(endpoint, TCPEndpoint_Operation_Listen, here, port, there, farPort) {}
};

struct TCPEndpointConnectMsg : public TCPEndpointAddressedMsg {
    TCPEndpointConnectMsg() {}
    TCPEndpointConnectMsg(const antModuleRef& endpoint, IPAddress here, Port port, IPAddress there, Port farPort)
        : TCPEndpointAddressedMsg(endpoint, TCPEndpoint_Operation_Connect, here, port, there, farPort) {}
};

struct TCPEndpointSendMsg : public TCPEndpointBaseMsg {
    byte* buffer;
    int size;

    TCPEndpointSendMsg() : buffer(0), size(0) {}
    TCPEndpointSendMsg(const antModuleRef& endpoint, byte* data, int bytes, int16 = 0)
        : TCPEndpointBaseMsg(endpoint, TCPEndpoint_Operation_Send), buffer(data), size(bytes) {}
};

// Waits for at least sizeMin bytes; both sizes are what came, afterwards.
struct TCPEndpointReceiveMsg : public TCPEndpointBaseMsg {
    byte* buffer;
    int sizeMin;
    int sizeMax;

    TCPEndpointReceiveMsg() : buffer(0), sizeMin(0), sizeMax(0) {}
    TCPEndpointReceiveMsg(const antModuleRef& endpoint, byte* data, int least, int most, int16 = 0)
        : TCPEndpointBaseMsg(endpoint, TCPEndpoint_Operation_Receive), buffer(data), sizeMin(least), sizeMax(most) {}
};

struct TCPEndpointCloseMsg : public TCPEndpointBaseMsg {
    bool abort;
    bool linger;
    int lingerTime;

    TCPEndpointCloseMsg() : abort(false), linger(false), lingerTime(0) {}
    TCPEndpointCloseMsg(const antModuleRef& endpoint, bool lingers = false, int time = 0, bool aborts = false,
                        int16 = 0)
        : TCPEndpointBaseMsg(endpoint, TCPEndpoint_Operation_Close), abort(aborts), linger(lingers), lingerTime(time) {}
};

#endif
