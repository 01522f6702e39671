#pragma once

#include "policy.h"

/*
 * Limits the system calls of the process, by seccomp, which takes effect at once. `program` is the
 * address of the path that the launcher passes to `execve`.
 */
void restrict_syscalls(const policy *policy, const char *program);
