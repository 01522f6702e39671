#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The exit status of shells for a program that cannot be started. */
#define EXIT_NOT_STARTED 126
#define MAX_MISSING 8
#define MAX_MESSAGE 1024

static int report_fd = STDERR_FILENO;
static const char *missing[MAX_MISSING];
static int missing_count;

void set_report_fd(int fd) { report_fd = fd; }

void report_missing(const char *boundary) {
  if (missing_count < MAX_MISSING) missing[missing_count++] = boundary;
}

static void write_fully(const char *text) {
  for (size_t left = strlen(text); left > 0;) {
    const ssize_t written = write(report_fd, text, left);
    if (written <= 0) return;
    text += written;
    left -= (size_t)written;
  }
}

void send_report(int landlock_abi, const char *variable) {
  char report[MAX_MESSAGE];
  int length = snprintf(report, sizeof report, "{\"landlock\":%d,\"missing\":[", landlock_abi);
  for (int i = 0; i < missing_count; i++) {
    length += snprintf(report + length, sizeof report - (size_t)length,
                       i == 0 ? "\"%s\"" : ",\"%s\"", missing[i]);
  }
  snprintf(report + length, sizeof report - (size_t)length, "]}");
  if (variable) {
    if (setenv(variable, report, 1) != 0) fail("out of memory");
    return;
  }
  write_fully(report);
  write_fully("\n");
}

void fail(const char *format, ...) {
  char message[MAX_MESSAGE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);

  /* Quotes, backslashes and control characters, which a path may contain, would end the string. */
  for (char *c = message; *c; c++) {
    if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ') *c = '?';
  }
  write_fully("{\"error\":\"");
  write_fully(message);
  write_fully("\"}\n");
  _exit(EXIT_NOT_STARTED);
}
