#include "filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "report.h"
#include "syscalls.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define X32_SYSCALL_BIT 0x40000000U
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the launcher has no table of system calls for this architecture"
#endif

/* Calls of later kernels get ENOSYS, with which libraries fall back to older ones. */
#define FIRST_UNKNOWN_SYSCALL 463U

/* Commands that send a signal to another process when a descriptor becomes ready, or type into a
 * terminal. */
static const uint32_t REFUSED_FCNTL[] = {8 /* F_SETOWN */, 10 /* F_SETSIG */, 15 /* F_SETOWN_EX */};
static const uint32_t REFUSED_IOCTL[] = {0x5412 /* TIOCSTI */, 0x541C /* TIOCLINUX */,
                                         0x8901 /* FIOSETOWN */, 0x8902 /* SIOCSPGRP */};
/* The first one is only for programs that start others: it would detach any other process from its
 * parent. */
static const uint32_t ALLOWED_PRCTL[] = {
    PR_SET_PDEATHSIG, PR_SET_NAME,       PR_GET_NAME,         PR_GET_DUMPABLE,
    PR_SET_DUMPABLE,  PR_CAPBSET_READ,   PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS,
    PR_SET_VMA,       PR_SET_TIMERSLACK, PR_SET_THP_DISABLE,  PR_GET_SECCOMP,
};
static const uint32_t ALLOWED_SOCKETS[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};

#define NEW_NAMESPACES                                                                          \
  (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | \
   CLONE_NEWNET)

#define REFUSE (SECCOMP_RET_ERRNO | EPERM)
#define MISSING (SECCOMP_RET_ERRNO | ENOSYS)

#define MAX_INSTRUCTIONS 1024
static struct sock_filter program_code[MAX_INSTRUCTIONS];
static unsigned short length;

static void add(uint16_t code, uint32_t operand, uint8_t if_true, uint8_t if_false) {
  if (length == MAX_INSTRUCTIONS) fail("the table of system calls is too long");
  program_code[length++] = (struct sock_filter){code, if_true, if_false, operand};
}

static void add_return(uint32_t action) { add(BPF_RET | BPF_K, action, 0, 0); }

/* Returns the action if the loaded value equals the operand, or else goes on. */
static void return_if_equal(uint32_t operand, uint32_t action) {
  add(BPF_JMP | BPF_JEQ | BPF_K, operand, 0, 1);
  add_return(action);
}

static void load(size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0); }

/* Loads the lower half of an argument. Both architectures are little-endian. */
static void load_argument(int index) {
  load(offsetof(struct seccomp_data, args) + 8 * (size_t)index);
}

static void load_upper_half(int index) {
  load(offsetof(struct seccomp_data, args) + 8 * (size_t)index + 4);
}

/* Returns the action `listed` if an argument is in the list, otherwise `others`. */
static void add_list(int argument, const uint32_t *list, size_t count, uint32_t listed,
                     uint32_t others) {
  load_argument(argument);
  for (size_t i = 0; i < count; i++) return_if_equal(list[i], listed);
  add_return(others);
}

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* How the filter answers a system call: see `add_rule`. */
typedef enum {
  ALLOW,
  UNAVAILABLE,
  /* Allowed with a grant. */
  WRITING,
  SOCKETS,
  PROCESSES,
  /* Without a grant, allowed for the process itself. */
  SELF_SIGNAL,
  SELF_LIMIT,
  /* Depends on the arguments. */
  EXECUTE,
  CLONE,
  FCNTL,
  IOCTL,
  PRCTL,
  SOCKET
} rule;

static uint32_t allow_if(bool granted) { return granted ? SECCOMP_RET_ALLOW : REFUSE; }

/* `clone` makes a thread, or with a grant a process, and never a namespace. */
static void add_clone(bool processes) {
  load_argument(0);
  add(BPF_JMP | BPF_JSET | BPF_K, NEW_NAMESPACES, 0, 1);
  add_return(REFUSE);
  add(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1);
  add_return(SECCOMP_RET_ALLOW);
  add_return(allow_if(processes));
}

/*
 * The filter takes effect before the program starts, so it must allow one start. It recognizes it
 * by the address of the path, a random page that the program does not know and that vanishes with
 * the launcher's memory.
 */
static void add_execute(const char *path) {
  const uintptr_t address = (uintptr_t)path;
  load_upper_half(0);
  add(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(address >> 32), 1, 0);
  add_return(REFUSE);
  load_argument(0);
  return_if_equal((uint32_t)address, SECCOMP_RET_ALLOW);
  add_return(REFUSE);
}

static void add_rule(rule rule, const policy *policy, const char *program) {
  const uint32_t self = (uint32_t)getpid();
  switch (rule) {
    case ALLOW: add_return(SECCOMP_RET_ALLOW); break;
    case UNAVAILABLE: add_return(MISSING); break;
    case WRITING: add_return(allow_if(grants_writing(policy))); break;
    case SOCKETS: add_return(allow_if(policy->sockets)); break;
    case PROCESSES: add_return(allow_if(policy->processes)); break;
    case CLONE: add_clone(policy->processes); break;
    case FCNTL: add_list(1, REFUSED_FCNTL, COUNT(REFUSED_FCNTL), REFUSE, SECCOMP_RET_ALLOW); break;
    case IOCTL: add_list(1, REFUSED_IOCTL, COUNT(REFUSED_IOCTL), REFUSE, SECCOMP_RET_ALLOW); break;
    case PRCTL: {
      const size_t first = policy->processes ? 0 : 1;
      add_list(0, ALLOWED_PRCTL + first, COUNT(ALLOWED_PRCTL) - first, SECCOMP_RET_ALLOW, REFUSE);
      break;
    }
    case SELF_LIMIT: add_list(0, (uint32_t[]){0, self}, 2, SECCOMP_RET_ALLOW, REFUSE); break;
    case SELF_SIGNAL: add_list(0, &self, 1, SECCOMP_RET_ALLOW, allow_if(policy->processes)); break;
    case SOCKET:
      if (policy->sockets) {
        add_list(0, ALLOWED_SOCKETS, COUNT(ALLOWED_SOCKETS), SECCOMP_RET_ALLOW, REFUSE);
      } else {
        add_return(REFUSE);
      }
      break;
    case EXECUTE:
      if (policy->processes) {
        add_return(SECCOMP_RET_ALLOW);
      } else {
        add_execute(program);
      }
      break;
  }
}

/* The rule of a call follows a jump across it, whose distance is known once the rule is added. */
static void add_syscall(uint32_t number, rule rule, const policy *policy, const char *program) {
  const unsigned short jump = length;
  add(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 0);
  add_rule(rule, policy, program);
  program_code[jump].jf = (uint8_t)(length - jump - 1);
}

static void build_program(const policy *policy, const char *program) {
  load(offsetof(struct seccomp_data, arch));
  add(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
  add_return(SECCOMP_RET_KILL_PROCESS);

  load(offsetof(struct seccomp_data, nr));
#ifdef X32_SYSCALL_BIT
  add(BPF_JMP | BPF_JGE | BPF_K, X32_SYSCALL_BIT, 0, 1);
  add_return(SECCOMP_RET_KILL_PROCESS);
#endif

#define SYSCALL(name, rule) add_syscall(__NR_##name, rule, policy, program);
  SYSCALL_TABLE
#ifdef __x86_64__
  OLD_SYSCALL_TABLE
#endif
#undef SYSCALL

  add(BPF_JMP | BPF_JGE | BPF_K, FIRST_UNKNOWN_SYSCALL, 0, 1);
  add_return(MISSING);
  add_return(REFUSE);
}

void restrict_syscalls(const policy *policy, const char *program) {
  build_program(policy, program);
  const struct sock_fprog filter = {.len = length, .filter = program_code};
  /* Without the flag, kernels before 5.16 would also disable speculation, which slows down
   * inference. */
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &filter) == 0) {
    return;
  }
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0) return;
  report_missing("system calls");
}
