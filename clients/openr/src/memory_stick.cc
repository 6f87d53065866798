// File functions of the C library, in front of the real ones, so that programs (and the streams they use) find what
// they look for under /MS.
#include "memory_stick.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

std::string& stick() {
    static std::string folder;
    return folder;
}

template <class Function>
Function real(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// The entry of a folder whose name is equal but for capitals; the name itself if there is none.
std::string spelled(const std::string& folder, const std::string& name) {
    std::string found = name;
    DIR* listing = real<DIR* (*)(const char*)>("opendir")(folder.c_str());
    if (listing == nullptr) return found;
    while (const dirent* entry = readdir(listing)) {
        if (name == entry->d_name) {
            found = name;
            break;
        }
        if (strcasecmp(name.c_str(), entry->d_name) == 0) found = entry->d_name;
    }
    closedir(listing);
    return found;
}

}  // namespace

namespace nutmeg::openr {

void set_memory_stick(const std::string& folder) { stick() = folder; }

std::string host_path(const char* path) {
    const std::string asked = path == nullptr ? "" : path;
    const bool on_stick =
        asked.size() >= 3 && strncasecmp(path, "/MS", 3) == 0 && (asked.size() == 3 || asked[3] == '/');
    if (!on_stick || stick().empty()) return asked;
    std::string result = stick();
    for (size_t at = 3; at < asked.size();) {
        const size_t start = asked.find_first_not_of('/', at);
        if (start == std::string::npos) break;
        const size_t end = asked.find('/', start);
        const std::string part = asked.substr(start, end == std::string::npos ? end : end - start);
        result += "/" + (part == ".." ? std::string(".") : spelled(result, part));
        at = end == std::string::npos ? asked.size() : end;
    }
    return result;
}

}  // namespace nutmeg::openr

using nutmeg::openr::host_path;

extern "C" {

FILE* fopen(const char* path, const char* mode) {
    return real<FILE* (*)(const char*, const char*)>("fopen")(host_path(path).c_str(), mode);
}

FILE* fopen64(const char* path, const char* mode) {
    return real<FILE* (*)(const char*, const char*)>("fopen64")(host_path(path).c_str(), mode);
}

int open(const char* path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = flags & O_CREAT ? static_cast<mode_t>(va_arg(arguments, int)) : 0;
    va_end(arguments);
    return real<int (*)(const char*, int, ...)>("open")(host_path(path).c_str(), flags, mode);
}

int open64(const char* path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = flags & O_CREAT ? static_cast<mode_t>(va_arg(arguments, int)) : 0;
    va_end(arguments);
    return real<int (*)(const char*, int, ...)>("open64")(host_path(path).c_str(), flags, mode);
}

DIR* opendir(const char* path) { return real<DIR* (*)(const char*)>("opendir")(host_path(path).c_str()); }

int stat(const char* path, struct stat* result) {
    return real<int (*)(const char*, struct stat*)>("stat")(host_path(path).c_str(), result);
}

int access(const char* path, int mode) {
    return real<int (*)(const char*, int)>("access")(host_path(path).c_str(), mode);
}

int mkdir(const char* path, mode_t mode) {
    return real<int (*)(const char*, mode_t)>("mkdir")(host_path(path).c_str(), mode);
}

int rmdir(const char* path) { return real<int (*)(const char*)>("rmdir")(host_path(path).c_str()); }
int unlink(const char* path) { return real<int (*)(const char*)>("unlink")(host_path(path).c_str()); }
int remove(const char* path) { return real<int (*)(const char*)>("remove")(host_path(path).c_str()); }

int rename(const char* from, const char* to) {
    return real<int (*)(const char*, const char*)>("rename")(host_path(from).c_str(), host_path(to).c_str());
}
}
