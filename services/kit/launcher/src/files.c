#define _GNU_SOURCE
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/types.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "report.h"

/* The interface of Landlock is defined here, because the headers of Debian 12 end with its
 * version 2. */

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif
#define CREATE_RULESET_VERSION 1U
#define RULE_PATH_BENEATH 1

struct ruleset {
  __u64 handled_access_fs;
  __u64 handled_access_net; /* From version 4. */
  __u64 scoped;             /* From version 6. */
};

struct path_rule {
  __u64 allowed_access;
  __s32 parent_fd;
} __attribute__((packed));

#define FS_EXECUTE (1ULL << 0)
#define FS_WRITE_FILE (1ULL << 1)
#define FS_READ_FILE (1ULL << 2)
#define FS_READ_DIR (1ULL << 3)
#define FS_REMOVE_DIR (1ULL << 4)
#define FS_REMOVE_FILE (1ULL << 5)
#define FS_MAKE_DIR (1ULL << 7)
#define FS_MAKE_REG (1ULL << 8)
#define FS_MAKE_SOCK (1ULL << 9)
#define FS_MAKE_FIFO (1ULL << 10)
#define FS_MAKE_SYM (1ULL << 12)
#define FS_VERSION_1 ((1ULL << 13) - 1)
#define FS_REFER (1ULL << 13)     /* From version 2. */
#define FS_TRUNCATE (1ULL << 14)  /* From version 3. */
#define FS_IOCTL_DEV (1ULL << 15) /* From version 5. */
#define NET_ALL 3ULL
#define SCOPE_ALL 3ULL

/* The accesses that apply to a file; the others apply to folders only. */
#define FS_OF_FILES (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)
#define FS_READ (FS_READ_FILE | FS_READ_DIR)

static const __u64 ACCESS[] = {
    [ACCESS_READ] = FS_READ,
    [ACCESS_EXECUTE] = FS_READ | FS_EXECUTE,
    [ACCESS_WRITE] = FS_READ | FS_WRITE_FILE | FS_TRUNCATE | FS_REMOVE_DIR | FS_REMOVE_FILE |
                     FS_MAKE_DIR | FS_MAKE_REG | FS_MAKE_SOCK | FS_MAKE_FIFO | FS_MAKE_SYM |
                     FS_REFER,
    [ACCESS_DEVICE] = FS_READ | FS_WRITE_FILE | FS_IOCTL_DEV,
};

static struct ruleset select_rules(int abi, const policy *policy) {
  struct ruleset rules = {.handled_access_fs = FS_VERSION_1};
  if (abi >= 2) rules.handled_access_fs |= FS_REFER;
  if (abi >= 3) rules.handled_access_fs |= FS_TRUNCATE;
  if (abi >= 5) rules.handled_access_fs |= FS_IOCTL_DEV;
  if (abi >= 4 && !policy->sockets) rules.handled_access_net = NET_ALL;
  if (abi >= 6) rules.scoped = SCOPE_ALL;
  return rules;
}

static size_t size_of_rules(int abi) {
  if (abi >= 6) return sizeof(struct ruleset);
  if (abi >= 4) return offsetof(struct ruleset, scoped);
  return offsetof(struct ruleset, handled_access_net);
}

static void grant(int ruleset_fd, int fd, __u64 allowed, const char *path) {
  const struct path_rule rule = {.allowed_access = allowed, .parent_fd = fd};
  if (syscall(SYS_landlock_add_rule, ruleset_fd, RULE_PATH_BENEATH, &rule, 0) != 0) {
    fail("failed to grant %s: %s", path, strerror(errno));
  }
}

static void add_rule(int ruleset_fd, const path_grant *path_grant, __u64 handled) {
  const int fd = open(path_grant->path, O_PATH | O_CLOEXEC);
  if (fd < 0) return;

  struct stat status;
  if (fstat(fd, &status) != 0) fail("failed to inspect %s: %s", path_grant->path, strerror(errno));
  const __u64 possible = S_ISDIR(status.st_mode) ? ~0ULL : FS_OF_FILES;
  grant(ruleset_fd, fd, ACCESS[path_grant->kind] & possible & handled, path_grant->path);
  close(fd);
}

/*
 * The program inherits the descriptor: while it is open, the kernel keeps the folder in its cache.
 * Otherwise it would create the folder anew when memory is short, and the rule would no longer
 * apply to it.
 */
static void grant_thread_names(int ruleset_fd, __u64 handled) {
  static const char folder[] = "/proc/self/task";
  const int fd = open(folder, O_PATH);
  if (fd >= 0) grant(ruleset_fd, fd, (FS_WRITE_FILE | FS_TRUNCATE) & handled, folder);
}

static int report_no_landlock(void) {
  report_missing("files");
  return 0;
}

int restrict_files(const policy *policy) {
  const long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);
  if (abi <= 0) return report_no_landlock();

  const struct ruleset rules = select_rules((int)abi, policy);
  const int ruleset_fd =
      (int)syscall(SYS_landlock_create_ruleset, &rules, size_of_rules((int)abi), 0);
  if (ruleset_fd < 0) return report_no_landlock();

  for (size_t i = 0; i < policy->grant_count; i++) {
    add_rule(ruleset_fd, &policy->grants[i], rules.handled_access_fs);
  }
  if (policy->thread_names) grant_thread_names(ruleset_fd, rules.handled_access_fs);
  if (syscall(SYS_landlock_restrict_self, ruleset_fd, 0) != 0) return report_no_landlock();
  close(ruleset_fd);

  /* A program that changes no files cannot call `truncate` at all: see the system calls. */
  if (abi < 3 && grants_writing(policy)) report_missing("truncation");
  /* A program that starts no processes may signal only itself: see the system calls. */
  if (abi < 6 && policy->processes) report_missing("signals");
  return (int)abi;
}
