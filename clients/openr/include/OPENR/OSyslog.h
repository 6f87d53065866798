// Messages of a program: osysprint goes to standard output, osyslog to standard error with the object's name.
//
// OSYSLOG1..4 print when OSYSLOG_SHOW (1 unless set) is at least their number; OSYSDEBUG with OPENR_DEBUG.
#ifndef NUTMEG_OPENR_OSYSLOG_H
#define NUTMEG_OPENR_OSYSLOG_H

#include <OPENR/OPENR.h>
#include <Types.h>

#ifndef OSYSLOG_SHOW
#define OSYSLOG_SHOW 1
#endif

#if OSYSLOG_SHOW >= 1
#define OSYSLOG1(arguments) (osyslog arguments)
#else
#define OSYSLOG1(arguments)
#endif
#if OSYSLOG_SHOW >= 2
#define OSYSLOG2(arguments) (osyslog arguments)
#else
#define OSYSLOG2(arguments)
#endif
#if OSYSLOG_SHOW >= 3
#define OSYSLOG3(arguments) (osyslog arguments)
#else
#define OSYSLOG3(arguments)
#endif
#if OSYSLOG_SHOW >= 4
#define OSYSLOG4(arguments) (osyslog arguments)
#else
#define OSYSLOG4(arguments)
#endif

#define OSYSPRINT(arguments) (osysprint arguments)
#ifdef OPENR_DEBUG
#define OSYSDEBUG(arguments) (osysprint arguments)
#else
#define OSYSDEBUG(arguments)
#endif

const size_t osyslogMAX_SIZE = 243;

typedef longword OSyslogPriority;
const OSyslogPriority osyslogERROR = 1;
const OSyslogPriority osyslogWARNING = 2;
const OSyslogPriority osyslogINFO = 3;
const OSyslogPriority osyslogDEBUG = 0xffffffff;
const OSyslogPriority osyslogDEBUG_NO_NEWLINE = 0xfffffffe;

OStatus osyslog(OSyslogPriority priority, const char* format, ...);
OStatus osysprint(const char* format, ...);

#endif
