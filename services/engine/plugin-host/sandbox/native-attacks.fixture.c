#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <node_api.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * A native addon in a hostile package: what it can reach when the code of an element loads it, past
 * everything that Node refuses. attack(victim, file) returns one line for each attempt, with 0 or
 * the number of the error.
 */

#define MAX_TEXT 512

static char *results;
static size_t length;

static void report(const char *name, long outcome) {
  length += (size_t)snprintf(results + length, MAX_TEXT * 4 - length, "%s: %d\n", name,
                             outcome < 0 ? errno : 0);
}

static void report_open(const char *name, const char *path, int flags) {
  const int fd = open(path, flags, 0600);
  report(name, fd);
  if (fd >= 0) close(fd);
}

/* Finds the frame ring among the descriptors, to open it again for writing. */
static void find_ring(char *path) {
  for (int fd = 0; fd < 64; fd++) {
    char target[MAX_TEXT] = "";
    snprintf(path, MAX_TEXT, "/proc/self/fd/%d", fd);
    if (readlink(path, target, sizeof target - 1) > 0 && strstr(target, ".ring")) return;
  }
  path[0] = '\0';
}

static napi_value attack(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  size_t count = 2;
  int victim;
  char file[MAX_TEXT];
  char path[MAX_TEXT];
  char text[MAX_TEXT * 4];
  if (napi_get_cb_info(env, info, &count, arguments, NULL, NULL) != napi_ok ||
      napi_get_value_int32(env, arguments[0], &victim) != napi_ok ||
      napi_get_value_string_utf8(env, arguments[1], file, sizeof file, NULL) != napi_ok) {
    return NULL;
  }

  results = text;
  length = 0;
  report_open("read a secret", file, O_RDONLY);
  report_open("write a file", "/tmp/eyrie-hostile-element", O_WRONLY | O_CREAT);
  report_open("read the accounts", "/etc/passwd", O_RDONLY);
  snprintf(path, sizeof path, "/proc/%d/mem", victim);
  report_open("open memory", path, O_RDONLY);
  snprintf(path, sizeof path, "/proc/%d/environ", victim);
  report_open("open the environment", path, O_RDONLY);
  find_ring(path);
  report_open("write to a ring", path, O_RDWR);

  char byte;
  struct iovec local = {&byte, 1}, remote = {(void *)0x400000, 1};
  report("read memory", process_vm_readv(victim, &local, 1, &remote, 1, 0));
  report("ptrace", ptrace(PTRACE_ATTACH, victim, NULL, NULL));
  report("kill", kill(victim, SIGKILL));
  report("open a socket", socket(AF_INET, SOCK_STREAM, 0));
  const pid_t child = (pid_t)syscall(SYS_fork);
  if (child == 0) _exit(0);
  report("fork", child);
  char *const command[] = {"/bin/true", NULL};
  report("start a program", execve(command[0], command, NULL));

  napi_value result;
  return napi_create_string_utf8(env, text, length, &result) == napi_ok ? result : NULL;
}

NAPI_MODULE_INIT() {
  napi_value function;
  if (napi_create_function(env, "attack", NAPI_AUTO_LENGTH, attack, NULL, &function) != napi_ok) {
    return NULL;
  }
  return napi_set_named_property(env, exports, "attack", function) == napi_ok ? exports : NULL;
}
