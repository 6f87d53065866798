// Messages to the network stack: Call waits for the answer, Send has it delivered to one of the object's entries.
#ifndef NUTMEG_OPENR_ANT_ENV_MSG_H
#define NUTMEG_OPENR_ANT_ENV_MSG_H

#include <MCOOP.h>
#include <antTypes.h>
#include <string.h>

#define ANTENVMSG void*

class antStackRef {
public:
    antStackRef() : valid_(false) {}
    antStackRef(const char*) : valid_(true) {}
    antStackRef(const OID&) : valid_(true) {}
    bool IsValid() { return valid_; }

private:
    bool valid_;
};

struct antEnvMsg {
    antModuleRef dstModule;
    int32 dstOperation;
    OID sender;
    void* continuation;

    antEnvMsg() : dstOperation(0), continuation(0) {}
    antEnvMsg(int32 operation) : dstOperation(operation), continuation(0) {}
    antEnvMsg(const antModuleRef& module, int32 operation)
        : dstModule(module), dstOperation(operation), continuation(0) {}

    antError Send(antStackRef stack, OID& receiver, int32 selector, int size);
    antError Call(antStackRef stack, int size);
    static antEnvMsg* Receive(ANTENVMSG message) { return static_cast<antEnvMsg*>(message); }
    int32 GetOperation() { return dstOperation; }
    OID& GetSender() { return sender; }
};

enum {
    antEnv_Operation_CreateEndpoint = -1,
    antEnv_Operation_CreateSharedBuffer = -2,
    antEnv_Operation_DestroySharedBuffer = -3,
    antEnv_Operation_InitGetParam = -4,
    antEnv_Operation_InitSetParam = -5
};

struct antEnvCreateEndpointMsg : public antEnvMsg {
    antError error;
    int32 protocol;
    int32 poolSize;
    antModuleRef moduleRef;

    antEnvCreateEndpointMsg() : error(ANT_FAIL), protocol(0), poolSize(0) {}
    antEnvCreateEndpointMsg(int32 kind, int32 size = 0)
        : antEnvMsg(antEnv_Operation_CreateEndpoint), error(ANT_FAIL), protocol(kind), poolSize(size) {}
};

struct antEnvCreateSharedBufferMsg : public antEnvMsg {
    antError error;
    uint32 size;
    antSharedBuffer buffer;

    antEnvCreateSharedBufferMsg() : error(ANT_FAIL), size(0) {}
    antEnvCreateSharedBufferMsg(uint32 bytes)
        : antEnvMsg(antEnv_Operation_CreateSharedBuffer), error(ANT_FAIL), size(bytes) {}
};

struct antEnvDestroySharedBufferMsg : public antEnvMsg {
    antError error;
    antSharedBuffer buffer;

    antEnvDestroySharedBufferMsg() : error(ANT_FAIL) {}
    antEnvDestroySharedBufferMsg(antSharedBuffer& which)
        : antEnvMsg(antEnv_Operation_DestroySharedBuffer), error(ANT_FAIL), buffer(which) {}
};

#define ANTENV_KEY_LENGTH_MAX 32
#define ANTENV_VALUE_LENGTH_MAX 32
enum { antEnv_InitParam_Int32 = -1, antEnv_InitParam_String = -2 };

struct antEnvInitGetParamMsg : public antEnvMsg {
    int32 paramType;
    char key[ANTENV_KEY_LENGTH_MAX];
    union {
        char str[ANTENV_VALUE_LENGTH_MAX];
        int32 i32;
    } value;
    antError error;

    antEnvInitGetParamMsg(const char* name = "")
        : antEnvMsg(antEnv_Operation_InitGetParam), paramType(0), error(ANT_FAIL) {
        strncpy(key, name, sizeof(key) - 1);
        key[sizeof(key) - 1] = 0;
        value.str[0] = 0;
    }
};

#endif
