#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/*
 * Attempts what a launched program must not do, and prints one line for each: its name and
 * "allowed", or the error. The arguments are the id of a process of the same user, a file that is
 * not granted, and one that is granted for reading; or only the name of an interface of system
 * calls.
 */

static void print(const char *name, long result) {
  printf("%s: %s\n", name, result >= 0 ? "allowed" : strerrorname_np(errno));
}

#define ATTEMPT(name, call) (errno = 0, print(name, (long)(call)))

static void attempt_processes(pid_t victim) {
  char byte = 0;
  struct iovec local = {&byte, 1}, remote = {&victim, 1};
  struct rlimit limit = {16, 16};
  ATTEMPT("signal another process", kill(victim, 0));
  ATTEMPT("signal another thread", syscall(SYS_tgkill, victim, victim, 0));
  ATTEMPT("signal by queue", syscall(SYS_rt_sigqueueinfo, victim, 0, NULL));
  ATTEMPT("signal by descriptor", fcntl(0, F_SETOWN, victim));
  ATTEMPT("signal by ioctl", ioctl(0, 0x8901 /* FIOSETOWN */, &victim));
  ATTEMPT("open another process", syscall(SYS_pidfd_open, victim, 0));
  ATTEMPT("ptrace", ptrace(PTRACE_SEIZE, victim, NULL, NULL));
  ATTEMPT("read memory", process_vm_readv(victim, &local, 1, &remote, 1, 0));
  ATTEMPT("write memory", process_vm_writev(victim, &local, 1, &remote, 1, 0));
  ATTEMPT("limit another process", syscall(SYS_prlimit64, victim, RLIMIT_NOFILE, &limit, NULL));
  ATTEMPT("prioritize another process", setpriority(PRIO_PROCESS, (id_t)victim, 19));
  ATTEMPT("outlive the parent", prctl(PR_SET_PDEATHSIG, 0));
}

static void attempt_programs(void) {
  char *const arguments[] = {"true", NULL};
  ATTEMPT("fork", syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  ATTEMPT("fork by clone3", syscall(SYS_clone3, NULL, 0));
  ATTEMPT("start a program", execve("/bin/true", arguments, NULL));
  ATTEMPT("start a program by descriptor",
          syscall(SYS_execveat, 0, "", arguments, NULL, 0x1000 /* AT_EMPTY_PATH */));
}

static void attempt_sockets(void) {
  int pair[2];
  ATTEMPT("open a socket", socket(AF_INET, SOCK_STREAM, 0));
  ATTEMPT("open a local socket", socket(AF_UNIX, SOCK_STREAM, 0));
  ATTEMPT("open a raw socket", socket(AF_PACKET, SOCK_RAW, 0));
  ATTEMPT("open a pair of sockets", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
}

static void attempt_kernel(void) {
  ATTEMPT("io_uring", syscall(SYS_io_uring_setup, 1, NULL));
  ATTEMPT("bpf", syscall(SYS_bpf, 0, NULL, 0));
  ATTEMPT("keyctl", syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0));
  ATTEMPT("unshare", unshare(CLONE_NEWUSER));
  ATTEMPT("a thread in a new namespace",
          syscall(SYS_clone, CLONE_NEWUSER | CLONE_VM | CLONE_SIGHAND | CLONE_THREAD, 0, 0, 0, 0));
  ATTEMPT("mount", syscall(SYS_mount, "none", "/", "tmpfs", 0, NULL));
  ATTEMPT("chroot", chroot("/"));
  ATTEMPT("perf_event_open", syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
  ATTEMPT("type into the terminal", ioctl(0, 0x5412 /* TIOCSTI */, ""));
}

static void attempt_files(const char *refused, const char *granted) {
  ATTEMPT("read a file", open(refused, O_RDONLY));
  ATTEMPT("read the accounts", open("/etc/passwd", O_RDONLY));
  ATTEMPT("list the root folder", open("/", O_RDONLY | O_DIRECTORY));
  ATTEMPT("create a file", open("/tmp/eyrie-attempt", O_WRONLY | O_CREAT, 0600));
  ATTEMPT("create a folder", mkdir("/tmp/eyrie-attempt-folder", 0700));
  ATTEMPT("write to a granted file", open(granted, O_WRONLY));
  ATTEMPT("empty a file", truncate(refused, 0));
  ATTEMPT("change the mode of a file", chmod(refused, 0777));
  ATTEMPT("change the owner of a file", chown(refused, 1, 1));
  ATTEMPT("delete a file", unlink(refused));
  ATTEMPT("read a granted file", open(granted, O_RDONLY));
}

static void print_state(void) {
  int open_count = 0;
  for (int fd = 0; fd < 1024; fd++) {
    if (fcntl(fd, F_GETFD) >= 0) open_count++;
  }
  struct rlimit core;
  getrlimit(RLIMIT_CORE, &core);
  printf("descriptors: %d\ncore: %ld\nno_new_privs: %d\nleader: %s\n", open_count,
         (long)core.rlim_max, prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0),
         getpgrp() == getpid() ? "yes" : "no");
}

#ifdef __x86_64__
/* Other interfaces have other numbers for the same calls, so a filter that ignores the interface
 * can be evaded. */
static void use_other_interface(const char *name) {
  long result = 20; /* getpid in the interface of i386 */
  if (strcmp(name, "i386") == 0) {
    __asm__ volatile("int $0x80" : "+a"(result));
  } else {
    result = syscall(0x40000000 + SYS_getpid);
  }
  printf("%s: %ld\n", name, result);
}
#endif

int main(int argc, char **argv) {
#ifdef __x86_64__
  if (argc == 2) use_other_interface(argv[1]);
#endif
  if (argc != 4) return 2;
  print_state();
  attempt_files(argv[2], argv[3]);
  attempt_processes(atoi(argv[1]));
  attempt_programs();
  attempt_sockets();
  attempt_kernel();
  return 0;
}
