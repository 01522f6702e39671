#pragma once

/* The report of the launcher to its parent: one line of JSON. */

/* Where `fail` and `send_report` write. Without it, they write to the standard error. */
void set_report_fd(int fd);

/* Adds a boundary that the kernel or the surroundings do not allow. The launch goes on. */
void report_missing(const char *boundary);

/* Reports `{"landlock":<ABI>,"missing":[…]}`, in a variable of the program's environment if one is
 * named. */
void send_report(int landlock_abi, const char *variable);

/* Sends `{"error":"…"}` and ends the process. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
