#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "report.h"

void follow_parent(pid_t parent, int signal) {
  if (prctl(PR_SET_PDEATHSIG, signal) != 0) {
    fail("failed to follow the parent: %s", strerror(errno));
  }
  /* If the parent ended before the call above, no signal will come. */
  if (getppid() != parent) _exit(0);
}

static void close_range_of(unsigned first, unsigned last) {
  if (first > last || syscall(SYS_close_range, first, last, 0) == 0) return;
  /* Before Linux 5.9, or refused by an outer filter. */
  struct rlimit limit;
  const unsigned end = getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (unsigned)limit.rlim_cur : 1024;
  for (unsigned fd = first; fd <= last && fd < end; fd++) close((int)fd);
}

void close_descriptors(int first, int kept) {
  if (kept < first) {
    close_range_of((unsigned)first, ~0U);
  } else {
    if (kept > first) close_range_of((unsigned)first, (unsigned)kept - 1);
    close_range_of((unsigned)kept + 1, ~0U);
  }
  if (kept > STDERR_FILENO) fcntl(kept, F_SETFD, FD_CLOEXEC);
}

static void set_limit(__rlimit_resource_t resource, long value) {
  if (value == UNLIMITED) return;
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0) return;
  /* An ordinary user cannot raise a limit that is already lower. */
  const rlim_t wanted = (rlim_t)value < limit.rlim_max ? (rlim_t)value : limit.rlim_max;
  limit.rlim_cur = limit.rlim_max = wanted;
  if (setrlimit(resource, &limit) != 0) {
    fail("failed to set limit %d: %s", (int)resource, strerror(errno));
  }
}

void set_limits(const policy *policy) {
  set_limit(RLIMIT_CORE, 0); /* A core file contains camera pictures. */
  set_limit(RLIMIT_CPU, policy->cpu_seconds);
  /* Not RLIMIT_AS: V8 reserves far more addresses than it ever uses as memory. */
  set_limit(RLIMIT_DATA, policy->data_bytes);
  set_limit(RLIMIT_NOFILE, policy->open_files);
  set_limit(RLIMIT_FSIZE, policy->file_bytes);
}

static int set_capabilities(__u64 permitted, __u64 effective) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
  memset(data, 0, sizeof data);
  for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
    data[i].permitted = (__u32)(permitted >> (32 * i));
    data[i].effective = (__u32)(effective >> (32 * i));
    data[i].inheritable = data[i].effective;
  }
  return (int)syscall(SYS_capset, &header, data);
}

static __u64 read_permitted(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
  if (syscall(SYS_capget, &header, data) != 0) return 0;
  return data[0].permitted | (__u64)data[1].permitted << 32;
}

static bool is_refused(const char *path, int mode) {
  return faccessat(AT_FDCWD, path, mode, AT_EACCESS) != 0 && errno == EACCES;
}

#define SEARCHING (1ULL << CAP_DAC_READ_SEARCH)
#define BINDING (1ULL << CAP_NET_BIND_SERVICE)
#define OVERRIDING (1ULL << CAP_DAC_OVERRIDE)

/* Returns the capabilities that the program needs to use the granted paths. Even root needs them
 * after dropping all others. */
static __u64 find_required(const policy *policy) {
  __u64 required = is_refused(policy->command[0], X_OK) ? SEARCHING : 0;
  for (size_t i = 0; i < policy->grant_count; i++) {
    const path_grant *grant = &policy->grants[i];
    if (is_refused(grant->path, R_OK)) required |= SEARCHING;
    if (grant->kind == ACCESS_WRITE && is_refused(grant->path, W_OK)) required |= OVERRIDING;
  }
  return required;
}

/* A program that runs as root keeps permitted capabilities. A program of another user keeps only
 * ambient ones. */
static void keep_capabilities(__u64 capabilities) {
  set_capabilities(capabilities, capabilities);
  if (geteuid() == 0) return;
  for (unsigned long i = 0; i <= CAP_LAST_CAP; i++) {
    if (capabilities & (1ULL << i)) prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, i, 0, 0);
  }
}

/* Returns whether the program may listen on ports below 1024. The parent grants this by making the
 * capability ambient. */
static bool may_bind_low_ports(const policy *policy) {
  return policy->sockets &&
         prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_NET_BIND_SERVICE, 0, 0) == 1;
}

void drop_privileges(const policy *policy) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) report_missing("privileges");

  const __u64 binding = may_bind_low_ports(policy) ? BINDING : 0;

  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  /* SEARCHING and OVERRIDING open files below the home of another user. Landlock limits them to the
   * granted paths. */
  const __u64 permitted = read_permitted();
  if (permitted == 0) return;
  const __u64 available = (SEARCHING | OVERRIDING | binding) & permitted;
  if (set_capabilities(available, 0) != 0) {
    report_missing("capabilities");
    return;
  }
  if (available == 0) return;
  const __u64 required = find_required(policy) & available;
  if (required != 0) report_missing("capabilities");
  keep_capabilities(required | (binding & permitted));
}
