#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "files.h"
#include "filter.h"
#include "policy.h"
#include "process.h"
#include "report.h"

/*
 * Starts a program with the least that it needs: eyrie-launcher <options> -- <program> <arguments>.
 * See policy.c for the options, and README.md for what they mean.
 */

/* Copies the path to a page of its own at a random address, which the filter of system calls
 * recognizes. */
static char *hide_path(const char *path) {
  const size_t size = strlen(path) + 1;
  unsigned long random = 0;
  if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) {
    fail("failed to read random numbers");
  }
  /* Below the end of the addresses of every configuration. The kernel chooses another address if
   * this one is taken. */
  const unsigned long page = (random & ((1UL << 37) - 1)) & ~0xffffUL;
  char *copy = mmap((void *)page, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) fail("out of memory");
  return memcpy(copy, path, size);
}

int main(int argc, char **argv) {
  const policy policy = parse_policy(argc, argv);
  follow_parent(policy.parent, policy.parent_signal);
  /* In a process group of its own, the program gets no signals to the group of the parent. It stays
   * in the parent's session, because the kernel divides CPU time between sessions. */
  setpgid(0, 0);
  close_descriptors(policy.inherited_fds, policy.report_fd);
  drop_privileges(&policy);
  char *program = hide_path(policy.command[0]);
  set_limits(&policy);
  const int landlock_abi = restrict_files(&policy);
  restrict_syscalls(&policy, program);
  send_report(landlock_abi, policy.report_variable);

  execve(program, policy.command, environ);
  fail("failed to start %s: %s", program, strerror(errno));
}
