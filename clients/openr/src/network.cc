// The robot's network stack on the host's sockets. Every operation that may wait has a thread of its own.
//
// Programs listen on 127.0.0.1 unless OPENR_LISTEN names another address; OPENR_PORT_OFFSET is added to ports below
// 1024, which only root may listen on.
#include <DNSEndpointMsg.h>
#include <EndpointTypes.h>
#include <OPENR/OSyslog.h>
#include <TCPEndpointMsg.h>
#include <UDPEndpointMsg.h>
#include <antEnvMsg.h>
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "kernel.h"
#include "wireless.h"

namespace {

struct Endpoint {
    int protocol = 0;
    std::atomic<int> socket{-1};
    std::atomic<bool> closed{false};
    std::vector<uint32> addresses;  // found by the last look-up
};

std::mutex mutex;
std::map<uint32, std::shared_ptr<Endpoint>> endpoints;
std::map<int, int> listeners;  // by port: endpoints that listen on the same one take turns
uint32 next_endpoint = 1;

std::shared_ptr<Endpoint> endpoint_of(const antModuleRef& reference) {
    std::lock_guard<std::mutex> lock(mutex);
    const auto found = endpoints.find(reference.Index());
    return found == endpoints.end() ? nullptr : found->second;
}

sockaddr_in socket_address(uint32 address, int port) {
    sockaddr_in result;
    std::memset(&result, 0, sizeof(result));
    result.sin_family = AF_INET;
    result.sin_addr.s_addr = htonl(address);
    result.sin_port = htons(static_cast<std::uint16_t>(port));
    return result;
}

uint32 own_address() {
    const char* named = std::getenv("OPENR_LISTEN");
    return named == nullptr ? INADDR_LOOPBACK : IPAddress(named).Address();
}

int own_port(int port) {
    const char* offset = std::getenv("OPENR_PORT_OFFSET");
    return offset != nullptr && port > 0 && port < 1024 ? port + std::atoi(offset) : port;
}

bool bind_to(int socket, int port) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    const sockaddr_in address = socket_address(own_address(), own_port(port));
    if (bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return true;
    osyslog(osyslogERROR, "cannot listen on port %d: %s", own_port(port), std::strerror(errno));
    return false;
}

int listener_on(int port) {
    std::lock_guard<std::mutex> lock(mutex);
    const auto found = listeners.find(port);
    if (found != listeners.end()) return found->second;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (!bind_to(listener, port) || listen(listener, 8) != 0) {
        close(listener);
        return -1;
    }
    listeners[port] = listener;
    return listener;
}

TCPEndpointError tcp_listen(Endpoint& endpoint, TCPEndpointAddressedMsg& message) {
    const int listener = listener_on(message.lPort);
    if (listener < 0) return TCP_ADDRESSINUSE;
    while (!endpoint.closed) {
        pollfd waiting = {listener, POLLIN, 0};
        if (poll(&waiting, 1, 100) <= 0) continue;
        sockaddr_in from;
        socklen_t size = sizeof(from);
        const int accepted = accept4(listener, reinterpret_cast<sockaddr*>(&from), &size, 0);
        if (accepted < 0) continue;
        endpoint.socket = accepted;
        message.fAddress = IPAddress(ntohl(from.sin_addr.s_addr));
        message.fPort = ntohs(from.sin_port);
        sockaddr_in own;
        size = sizeof(own);
        getsockname(accepted, reinterpret_cast<sockaddr*>(&own), &size);
        message.lAddress = IPAddress(ntohl(own.sin_addr.s_addr));
        return TCP_SUCCESS;
    }
    return TCP_CONNECTION_CLOSED;
}

TCPEndpointError tcp_connect(Endpoint& endpoint, const TCPEndpointAddressedMsg& message) {
    endpoint.socket = socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = socket_address(message.fAddress.Address(), message.fPort);
    if (connect(endpoint.socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return TCP_SUCCESS;
    return errno == ECONNREFUSED ? TCP_PORT_UNREACHABLE : TCP_HOST_UNREACHABLE;
}

TCPEndpointError tcp_send(Endpoint& endpoint, const TCPEndpointSendMsg& message) {
    for (int sent = 0; sent < message.size;) {
        const ssize_t put = send(endpoint.socket, message.buffer + sent, message.size - sent, MSG_NOSIGNAL);
        if (put <= 0) return TCP_CONNECTION_CLOSED;
        sent += static_cast<int>(put);
    }
    return TCP_SUCCESS;
}

TCPEndpointError tcp_receive(Endpoint& endpoint, TCPEndpointReceiveMsg& message) {
    int received = 0;
    while (received < message.sizeMin) {
        const ssize_t got = recv(endpoint.socket, message.buffer + received, message.sizeMax - received, 0);
        if (got <= 0) return TCP_CONNECTION_CLOSED;
        received += static_cast<int>(got);
    }
    message.sizeMin = message.sizeMax = received;
    return TCP_SUCCESS;
}

// After closing, the endpoint is gone: programs make a new one.
void close_endpoint(Endpoint& endpoint, const antModuleRef& reference) {
    endpoint.closed = true;
    const int socket = endpoint.socket.exchange(-1);
    if (socket >= 0) {
        shutdown(socket, SHUT_RDWR);
        close(socket);
    }
    std::lock_guard<std::mutex> lock(mutex);
    endpoints.erase(reference.Index());
}

void perform_tcp(Endpoint& endpoint, antEnvMsg& message) {
    auto& answered = static_cast<TCPEndpointBaseMsg&>(message);
    switch (message.dstOperation) {
        case TCPEndpoint_Operation_Listen:
            answered.error = tcp_listen(endpoint, static_cast<TCPEndpointAddressedMsg&>(message));
            break;
        case TCPEndpoint_Operation_Connect:
            answered.error = tcp_connect(endpoint, static_cast<TCPEndpointAddressedMsg&>(message));
            break;
        case TCPEndpoint_Operation_Send:
            answered.error = tcp_send(endpoint, static_cast<TCPEndpointSendMsg&>(message));
            break;
        case TCPEndpoint_Operation_Receive:
            answered.error = tcp_receive(endpoint, static_cast<TCPEndpointReceiveMsg&>(message));
            break;
        case TCPEndpoint_Operation_Close:
            close_endpoint(endpoint, message.dstModule);
            answered.error = TCP_SUCCESS;
            break;
        default:
            answered.error = TCP_OPERATION_UNKNOWN;
    }
}

UDPEndpointError udp_send(Endpoint& endpoint, const UDPEndpointDataMsg& message) {
    const sockaddr_in to = socket_address(message.address.Address(), message.port);
    const bool connected = message.port == 0;
    const ssize_t put =
        sendto(endpoint.socket, message.buffer, message.size, MSG_NOSIGNAL,
               connected ? nullptr : reinterpret_cast<const sockaddr*>(&to), connected ? 0 : sizeof(to));
    return put == message.size ? UDP_SUCCESS : UDP_FAIL;
}

UDPEndpointError udp_receive(Endpoint& endpoint, UDPEndpointDataMsg& message) {
    while (!endpoint.closed) {
        pollfd waiting = {endpoint.socket, POLLIN, 0};
        if (poll(&waiting, 1, 100) <= 0) continue;
        sockaddr_in from;
        socklen_t size = sizeof(from);
        const ssize_t got =
            recvfrom(endpoint.socket, message.buffer, message.size, 0, reinterpret_cast<sockaddr*>(&from), &size);
        if (got < 0) return UDP_FAIL;
        message.size = static_cast<int>(got);
        message.address = IPAddress(ntohl(from.sin_addr.s_addr));
        message.port = ntohs(from.sin_port);
        return UDP_SUCCESS;
    }
    return UDP_CONNECTION_CLOSED;
}

UDPEndpointError udp_connect(Endpoint& endpoint, const UDPEndpointAddressedMsg& message) {
    const sockaddr_in to = socket_address(message.address.Address(), message.port);
    const bool done = connect(endpoint.socket, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0;
    return done ? UDP_SUCCESS : UDP_ADDRESSERROR;
}

void perform_udp(Endpoint& endpoint, antEnvMsg& message) {
    auto& answered = static_cast<UDPEndpointBaseMsg&>(message);
    if (endpoint.socket < 0) endpoint.socket = socket(AF_INET, SOCK_DGRAM, 0);
    switch (message.dstOperation) {
        case UDPEndpoint_Operation_Bind:
            answered.error = bind_to(endpoint.socket, static_cast<UDPEndpointAddressedMsg&>(message).port)
                                 ? UDP_SUCCESS
                                 : UDP_ADDRESSINUSE;
            break;
        case UDPEndpoint_Operation_Connect:
            answered.error = udp_connect(endpoint, static_cast<UDPEndpointAddressedMsg&>(message));
            break;
        case UDPEndpoint_Operation_Send:
            answered.error = udp_send(endpoint, static_cast<UDPEndpointDataMsg&>(message));
            break;
        case UDPEndpoint_Operation_Receive:
            answered.error = udp_receive(endpoint, static_cast<UDPEndpointDataMsg&>(message));
            break;
        case UDPEndpoint_Operation_Close:
            close_endpoint(endpoint, message.dstModule);
            answered.error = UDP_SUCCESS;
            break;
        default:
            answered.error = UDP_OPERATION_UNKNOWN;
    }
}

DNSEndpointError find_host(Endpoint& endpoint, DNSEndpointHostMsg& message) {
    addrinfo hints;
    std::memset(&hints, 0, sizeof(hints));
    hints.ai_family = AF_INET;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (getaddrinfo(message.name, nullptr, &hints, &found) != 0) return DNS_HOST_NOT_FOUND;
    endpoint.addresses.clear();
    for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
        endpoint.addresses.push_back(ntohl(reinterpret_cast<const sockaddr_in*>(at->ai_addr)->sin_addr.s_addr));
    }
    freeaddrinfo(found);
    message.n_address = static_cast<int>(endpoint.addresses.size());
    message.host_address = IPAddress(endpoint.addresses.front());
    return DNS_SUCCESS;
}

DNSEndpointError find_name(DNSEndpointHostMsg& message) {
    const sockaddr_in address = socket_address(message.host_address.Address(), 0);
    const int problem = getnameinfo(reinterpret_cast<const sockaddr*>(&address), sizeof(address), message.name,
                                    sizeof(message.name), nullptr, 0, NI_NAMEREQD);
    message.n_address = problem == 0 ? 1 : 0;
    return problem == 0 ? DNS_SUCCESS : DNS_HOST_NOT_FOUND;
}

DNSEndpointError tell_address(const Endpoint& endpoint, DNSEndpointGetAddressMsg& message) {
    if (message.index < 0 || message.index >= static_cast<int>(endpoint.addresses.size())) return DNS_INDEX_INVALID;
    message.address = IPAddress(endpoint.addresses[static_cast<size_t>(message.index)]);
    return DNS_SUCCESS;
}

// Those of WLANCONF.TXT, which are told and not asked: names are looked up by the host.
DNSEndpointError tell_servers(DNSEndpointGetServerAddressesMsg& message) {
    message.nscount = 0;
    while (message.nscount < MAXNS) {
        const std::string server =
            nutmeg::openr::network_setting("DNS_SERVER_" + std::to_string(message.nscount + 1));
        if (server.empty()) break;
        message.addrList[message.nscount++] = IPAddress(server.c_str());
    }
    return DNS_SUCCESS;
}

void perform_dns(Endpoint& endpoint, antEnvMsg& message) {
    auto& answered = static_cast<DNSEndpointBaseMsg&>(message);
    switch (message.dstOperation) {
        case DNSEndpoint_Operation_GetHostByName:
            answered.error = find_host(endpoint, static_cast<DNSEndpointHostMsg&>(message));
            break;
        case DNSEndpoint_Operation_GetHostByAddr:
            answered.error = find_name(static_cast<DNSEndpointHostMsg&>(message));
            break;
        case DNSEndpoint_Operation_GetAddress:
            answered.error = tell_address(endpoint, static_cast<DNSEndpointGetAddressMsg&>(message));
            break;
        case DNSEndpoint_Operation_GetAlias:
            answered.error = DNS_INDEX_INVALID;
            break;
        case DNSEndpoint_Operation_Close:
            close_endpoint(endpoint, message.dstModule);
            answered.error = DNS_SUCCESS;
            break;
        case DNSEndpoint_Operation_GetServerAddresses:
            answered.error = tell_servers(static_cast<DNSEndpointGetServerAddressesMsg&>(message));
            break;
        case DNSEndpoint_Operation_GetDefaultDomainName: {
            auto& asked = static_cast<DNSEndpointNamedMsg&>(message);
            std::strncpy(asked.name, nutmeg::openr::network_setting("DNS_DEFDNAME").c_str(), MAXDNAME - 1);
            answered.error = DNS_SUCCESS;
            break;
        }
        default:
            answered.error = DNS_SUCCESS;  // servers and domains are the host's affair: what is set changes nothing
    }
}

void create_endpoint(antEnvCreateEndpointMsg& message) {
    const int protocol = message.protocol;
    if (protocol != EndpointType_TCP && protocol != EndpointType_UDP && protocol != EndpointType_DNS) {
        message.error = ANT_ENDPOINT_NOFACTORY;
        return;
    }
    std::lock_guard<std::mutex> lock(mutex);
    auto endpoint = std::make_shared<Endpoint>();
    endpoint->protocol = protocol;
    endpoints[next_endpoint] = endpoint;
    message.moduleRef = antModuleRef(nullptr, next_endpoint++);
    message.error = ANT_SUCCESS;
}

// Parameters of the stack: the address that programs listen on, and what WLANCONF.TXT says; others are unknown.
void tell_parameter(antEnvInitGetParamMsg& message) {
    std::string value = nutmeg::openr::network_setting(message.key);
    if (std::strcmp(message.key, "ETHER_IP") == 0) {
        char text[16];
        value = IPAddress(own_address()).GetAsString(text);
    }
    message.error = value.empty() ? ANT_FAIL : ANT_SUCCESS;
    message.paramType = antEnv_InitParam_String;
    std::strncpy(message.value.str, value.c_str(), sizeof(message.value.str) - 1);
    message.value.str[sizeof(message.value.str) - 1] = 0;
}

// What every program may ask, endpoint or not; false if it is for an endpoint.
bool perform_general(antEnvMsg& message) {
    switch (message.dstOperation) {
        case antEnv_Operation_CreateEndpoint:
            create_endpoint(static_cast<antEnvCreateEndpointMsg&>(message));
            return true;
        case antEnv_Operation_CreateSharedBuffer: {
            auto& asked = static_cast<antEnvCreateSharedBufferMsg&>(message);
            asked.buffer = antSharedBuffer(std::calloc(1, asked.size), asked.size);
            asked.error = ANT_SUCCESS;
            return true;
        }
        case antEnv_Operation_DestroySharedBuffer: {
            auto& asked = static_cast<antEnvDestroySharedBufferMsg&>(message);
            std::free(asked.buffer.GetAddress());
            asked.error = ANT_SUCCESS;
            return true;
        }
        case antEnv_Operation_InitGetParam:
            tell_parameter(static_cast<antEnvInitGetParamMsg&>(message));
            return true;
        default:
            return false;
    }
}

antError perform(antEnvMsg& message) {
    if (perform_general(message)) return ANT_SUCCESS;
    const std::shared_ptr<Endpoint> endpoint = endpoint_of(message.dstModule);
    if (endpoint == nullptr) return ANT_INVALIDMODULEID;
    if (endpoint->protocol == EndpointType_TCP) perform_tcp(*endpoint, message);
    if (endpoint->protocol == EndpointType_UDP) perform_udp(*endpoint, message);
    if (endpoint->protocol == EndpointType_DNS) perform_dns(*endpoint, message);
    return ANT_SUCCESS;
}

}  // namespace

antError antEnvMsg::Call(antStackRef, int) { return perform(*this); }

antError antEnvMsg::Send(antStackRef, OID& receiver, int32 selector, int size) {
    const auto* first = reinterpret_cast<const unsigned char*>(this);
    nutmeg::openr::Bytes bytes(first, first + size);
    const OID to = receiver;
    std::thread([bytes, to, selector]() mutable {
        perform(*reinterpret_cast<antEnvMsg*>(bytes.data()));
        ::Send(to, static_cast<Selector>(selector), bytes.data(), bytes.size());
    }).detach();
    return ANT_SUCCESS;
}

const char* antErrorString(antError error) { return error == ANT_SUCCESS ? "success" : "failure"; }

IPAddress::IPAddress(const char* text) : address(0) {
    in_addr parsed;
    if (text != nullptr && inet_pton(AF_INET, text, &parsed) == 1) address = ntohl(parsed.s_addr);
}

char* IPAddress::GetAsString(char* text) const {
    std::sprintf(text, "%u.%u.%u.%u", address >> 24, address >> 16 & 255, address >> 8 & 255, address & 255);
    return text;
}

OSTREAM& operator<<(OSTREAM& out, const IPAddress& address) {
    char text[16];
    return out << address.GetAsString(text);
}
