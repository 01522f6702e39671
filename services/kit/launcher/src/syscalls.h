#pragma once

#include <asm/unistd.h>

/*
 * The system calls of a launched program: SYSCALL(name, rule). Calls that are not in the table are
 * refused; among them are ptrace, process_vm_readv, pidfd_getfd, bpf, io_uring_setup, keyctl,
 * unshare, setns, mount, chroot, kexec_load, perf_event_open, userfaultfd, and everything that
 * changes users, clocks, owners or extended attributes.
 *
 * ALLOW       always
 * WRITING     if the policy grants a path for writing; Landlock does not cover all of these
 * SOCKETS     if the policy grants sockets; others work on connections that the program inherits
 * PROCESSES   if the policy grants processes
 * SELF_SIGNAL if the first argument is the process itself, or the policy grants processes
 * SELF_LIMIT  if the first argument is 0 or the process itself
 * EXECUTE     the start of the program by the launcher, or always if the policy grants processes
 * the rest    see filter.c
 */
/* clang-format off */
#define SYSCALL_TABLE                                                                             \
  /* Reading, writing and descriptors. */                                                         \
  SYSCALL(read, ALLOW) SYSCALL(write, ALLOW) SYSCALL(readv, ALLOW) SYSCALL(writev, ALLOW)         \
  SYSCALL(pread64, ALLOW) SYSCALL(pwrite64, ALLOW) SYSCALL(preadv, ALLOW) SYSCALL(pwritev, ALLOW) \
  SYSCALL(preadv2, ALLOW) SYSCALL(pwritev2, ALLOW) SYSCALL(lseek, ALLOW) SYSCALL(close, ALLOW)    \
  SYSCALL(close_range, ALLOW) SYSCALL(dup, ALLOW) SYSCALL(dup3, ALLOW) SYSCALL(fcntl, FCNTL)      \
  SYSCALL(ioctl, IOCTL) SYSCALL(flock, ALLOW) SYSCALL(fsync, ALLOW) SYSCALL(fdatasync, ALLOW)     \
  SYSCALL(sync_file_range, ALLOW) SYSCALL(sendfile, ALLOW) SYSCALL(splice, ALLOW)                 \
  SYSCALL(tee, ALLOW) SYSCALL(copy_file_range, ALLOW) SYSCALL(fadvise64, ALLOW)                   \
  SYSCALL(readahead, ALLOW) SYSCALL(fallocate, ALLOW) SYSCALL(ftruncate, ALLOW)                   \
  SYSCALL(pipe2, ALLOW) SYSCALL(memfd_create, ALLOW)                                              \
  /* Files by name: Landlock decides which. */                                                    \
  SYSCALL(openat, ALLOW) SYSCALL(openat2, ALLOW) SYSCALL(fstat, ALLOW) SYSCALL(newfstatat, ALLOW) \
  SYSCALL(statx, ALLOW) SYSCALL(statfs, ALLOW) SYSCALL(fstatfs, ALLOW) SYSCALL(faccessat, ALLOW)  \
  SYSCALL(faccessat2, ALLOW) SYSCALL(readlinkat, ALLOW) SYSCALL(getdents64, ALLOW)                \
  SYSCALL(getcwd, ALLOW) SYSCALL(chdir, ALLOW) SYSCALL(fchdir, ALLOW) SYSCALL(umask, ALLOW)       \
  SYSCALL(mkdirat, ALLOW) SYSCALL(truncate, WRITING) SYSCALL(unlinkat, WRITING)                   \
  SYSCALL(renameat2, WRITING) SYSCALL(renameat, WRITING) SYSCALL(linkat, WRITING)                 \
  SYSCALL(symlinkat, WRITING) SYSCALL(fchmod, WRITING) SYSCALL(fchmodat, WRITING)                 \
  SYSCALL(fchmodat2, WRITING) SYSCALL(utimensat, WRITING)                                         \
  /* Memory. */                                                                                   \
  SYSCALL(brk, ALLOW) SYSCALL(mmap, ALLOW) SYSCALL(mprotect, ALLOW) SYSCALL(munmap, ALLOW)        \
  SYSCALL(mremap, ALLOW) SYSCALL(madvise, ALLOW) SYSCALL(mincore, ALLOW) SYSCALL(msync, ALLOW)    \
  SYSCALL(mlock, ALLOW) SYSCALL(mlock2, ALLOW) SYSCALL(munlock, ALLOW) SYSCALL(membarrier, ALLOW) \
  SYSCALL(pkey_alloc, ALLOW) SYSCALL(pkey_free, ALLOW) SYSCALL(pkey_mprotect, ALLOW)              \
  SYSCALL(get_mempolicy, ALLOW) SYSCALL(mseal, ALLOW)                                             \
  /* Threads. */                                                                                  \
  SYSCALL(clone, CLONE) SYSCALL(clone3, UNAVAILABLE) SYSCALL(futex, ALLOW)                        \
  SYSCALL(futex_waitv, ALLOW) SYSCALL(set_robust_list, ALLOW) SYSCALL(get_robust_list, ALLOW)     \
  SYSCALL(set_tid_address, ALLOW) SYSCALL(rseq, ALLOW) SYSCALL(exit, ALLOW)                       \
  SYSCALL(exit_group, ALLOW) SYSCALL(sched_yield, ALLOW) SYSCALL(sched_getaffinity, ALLOW)        \
  SYSCALL(sched_getparam, ALLOW) SYSCALL(sched_getscheduler, ALLOW) SYSCALL(sched_getattr, ALLOW) \
  SYSCALL(sched_get_priority_max, ALLOW) SYSCALL(sched_get_priority_min, ALLOW)                   \
  SYSCALL(getpriority, ALLOW) SYSCALL(getcpu, ALLOW) SYSCALL(restart_syscall, ALLOW)              \
  /* Signals. */                                                                                  \
  SYSCALL(rt_sigaction, ALLOW) SYSCALL(rt_sigprocmask, ALLOW) SYSCALL(rt_sigpending, ALLOW)       \
  SYSCALL(rt_sigsuspend, ALLOW) SYSCALL(rt_sigtimedwait, ALLOW) SYSCALL(rt_sigreturn, ALLOW)      \
  SYSCALL(sigaltstack, ALLOW) SYSCALL(signalfd4, ALLOW) SYSCALL(kill, SELF_SIGNAL)                \
  SYSCALL(tgkill, SELF_SIGNAL)                                                                    \
  /* Time and waiting. */                                                                         \
  SYSCALL(clock_gettime, ALLOW) SYSCALL(clock_getres, ALLOW) SYSCALL(clock_nanosleep, ALLOW)      \
  SYSCALL(nanosleep, ALLOW) SYSCALL(gettimeofday, ALLOW) SYSCALL(timer_create, ALLOW)             \
  SYSCALL(timer_settime, ALLOW) SYSCALL(timer_gettime, ALLOW) SYSCALL(timer_getoverrun, ALLOW)    \
  SYSCALL(timer_delete, ALLOW) SYSCALL(timerfd_create, ALLOW) SYSCALL(timerfd_settime, ALLOW)     \
  SYSCALL(timerfd_gettime, ALLOW) SYSCALL(getitimer, ALLOW) SYSCALL(setitimer, ALLOW)             \
  SYSCALL(ppoll, ALLOW) SYSCALL(pselect6, ALLOW) SYSCALL(epoll_create1, ALLOW)                    \
  SYSCALL(epoll_ctl, ALLOW) SYSCALL(epoll_pwait, ALLOW) SYSCALL(epoll_pwait2, ALLOW)              \
  SYSCALL(eventfd2, ALLOW)                                                                        \
  /* The process itself and the machine. */                                                       \
  SYSCALL(getpid, ALLOW) SYSCALL(gettid, ALLOW) SYSCALL(getppid, ALLOW) SYSCALL(getpgid, ALLOW)   \
  SYSCALL(getsid, ALLOW) SYSCALL(getuid, ALLOW) SYSCALL(geteuid, ALLOW) SYSCALL(getgid, ALLOW)    \
  SYSCALL(getegid, ALLOW) SYSCALL(getresuid, ALLOW) SYSCALL(getresgid, ALLOW)                     \
  SYSCALL(getgroups, ALLOW) SYSCALL(capget, ALLOW) SYSCALL(prctl, PRCTL)                          \
  SYSCALL(prlimit64, SELF_LIMIT) SYSCALL(getrusage, ALLOW) SYSCALL(times, ALLOW)                  \
  SYSCALL(uname, ALLOW) SYSCALL(sysinfo, ALLOW) SYSCALL(getrandom, ALLOW)                         \
  /* Starting programs. */                                                                        \
  SYSCALL(execve, EXECUTE) SYSCALL(execveat, PROCESSES) SYSCALL(wait4, PROCESSES)                 \
  SYSCALL(waitid, PROCESSES) SYSCALL(setsid, PROCESSES) SYSCALL(setpgid, PROCESSES)               \
  SYSCALL(pidfd_open, PROCESSES)                                                                  \
  /* Connections. */                                                                              \
  SYSCALL(sendto, ALLOW) SYSCALL(recvfrom, ALLOW) SYSCALL(sendmsg, ALLOW) SYSCALL(recvmsg, ALLOW) \
  SYSCALL(sendmmsg, ALLOW) SYSCALL(recvmmsg, ALLOW) SYSCALL(shutdown, ALLOW)                      \
  SYSCALL(getsockopt, ALLOW) SYSCALL(setsockopt, ALLOW) SYSCALL(getsockname, ALLOW)               \
  SYSCALL(getpeername, ALLOW) SYSCALL(socket, SOCKET) SYSCALL(socketpair, SOCKETS)                \
  SYSCALL(connect, SOCKETS) SYSCALL(bind, SOCKETS) SYSCALL(listen, SOCKETS)                       \
  SYSCALL(accept, SOCKETS) SYSCALL(accept4, SOCKETS)

/* Calls of x86_64 for which newer architectures have only the general form. */
#define OLD_SYSCALL_TABLE                                                                         \
  SYSCALL(open, ALLOW) SYSCALL(creat, ALLOW) SYSCALL(stat, ALLOW) SYSCALL(lstat, ALLOW)           \
  SYSCALL(access, ALLOW) SYSCALL(readlink, ALLOW) SYSCALL(getdents, ALLOW) SYSCALL(dup2, ALLOW)   \
  SYSCALL(pipe, ALLOW) SYSCALL(poll, ALLOW) SYSCALL(select, ALLOW) SYSCALL(epoll_create, ALLOW)   \
  SYSCALL(epoll_wait, ALLOW) SYSCALL(eventfd, ALLOW) SYSCALL(signalfd, ALLOW)                     \
  SYSCALL(time, ALLOW) SYSCALL(alarm, ALLOW) SYSCALL(pause, ALLOW) SYSCALL(getpgrp, ALLOW)        \
  SYSCALL(arch_prctl, ALLOW) SYSCALL(map_shadow_stack, ALLOW) SYSCALL(getrlimit, ALLOW)           \
  SYSCALL(setrlimit, ALLOW) SYSCALL(mkdir, ALLOW) SYSCALL(rmdir, WRITING)                         \
  SYSCALL(unlink, WRITING) SYSCALL(rename, WRITING) SYSCALL(link, WRITING)                        \
  SYSCALL(symlink, WRITING) SYSCALL(chmod, WRITING) SYSCALL(utimes, WRITING)                      \
  SYSCALL(fork, PROCESSES) SYSCALL(vfork, PROCESSES)
/* clang-format on */

/* Newer than the headers of Debian 12. The numbers are the same on all architectures. */
#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452
#endif
#ifndef __NR_map_shadow_stack
#define __NR_map_shadow_stack 453
#endif
#ifndef __NR_mseal
#define __NR_mseal 462
#endif
