// osysprint and osyslog: what programs say.
#include <OPENR/OSyslog.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "kernel.h"

OStatus osysprint(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::vprintf(format, arguments);
    va_end(arguments);
    std::fflush(stdout);
    return oSUCCESS;
}

OStatus osyslog(OSyslogPriority priority, const char* format, ...) {
    const char* level = priority == osyslogERROR     ? "error"
                        : priority == osyslogWARNING ? "warning"
                        : priority == osyslogINFO    ? "info"
                                                     : "debug";
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    const nutmeg::openr::Task* task = nutmeg::openr::current_task();
    std::fprintf(stderr, "%s: %s: %s%s", task == nullptr ? "runtime" : task->name().c_str(), level, text,
                 priority == osyslogDEBUG_NO_NEWLINE ? "" : "\n");
    return oSUCCESS;
}

extern "C" char* gets(char* line) {
    if (std::fgets(line, 256, stdin) == nullptr) return nullptr;
    line[std::strcspn(line, "\n")] = 0;
    return line;
}
