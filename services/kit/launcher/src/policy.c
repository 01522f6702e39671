#include "policy.h"

#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

enum {
  OPTION_READ = 1,
  OPTION_EXECUTE,
  OPTION_WRITE,
  OPTION_DEVICE,
  OPTION_SOCKETS,
  OPTION_PROCESSES,
  OPTION_CPU,
  OPTION_DATA,
  OPTION_OPEN_FILES,
  OPTION_FILE_SIZE,
  OPTION_PARENT,
  OPTION_PARENT_SIGNAL,
  OPTION_INHERIT,
  OPTION_REPORT,
  OPTION_REPORT_VARIABLE,
  OPTION_THREAD_NAMES
};

static const struct option OPTIONS[] = {
    {"read", required_argument, NULL, OPTION_READ},
    {"execute", required_argument, NULL, OPTION_EXECUTE},
    {"write", required_argument, NULL, OPTION_WRITE},
    {"device", required_argument, NULL, OPTION_DEVICE},
    {"sockets", no_argument, NULL, OPTION_SOCKETS},
    {"processes", no_argument, NULL, OPTION_PROCESSES},
    {"thread-names", no_argument, NULL, OPTION_THREAD_NAMES},
    {"cpu-seconds", required_argument, NULL, OPTION_CPU},
    {"data-bytes", required_argument, NULL, OPTION_DATA},
    {"open-files", required_argument, NULL, OPTION_OPEN_FILES},
    {"file-bytes", required_argument, NULL, OPTION_FILE_SIZE},
    {"parent", required_argument, NULL, OPTION_PARENT},
    {"parent-signal", required_argument, NULL, OPTION_PARENT_SIGNAL},
    {"inherit", required_argument, NULL, OPTION_INHERIT},
    {"report", required_argument, NULL, OPTION_REPORT},
    {"report-variable", required_argument, NULL, OPTION_REPORT_VARIABLE},
    {NULL, 0, NULL, 0},
};

static long parse_number(const char *text) {
  char *end;
  const long number = strtol(text, &end, 10);
  if (end == text || *end != '\0' || number < 0) {
    fail("invalid number %s: use a decimal number", text);
  }
  return number;
}

static void add_grant(policy *policy, access_kind kind, const char *path) {
  if (path[0] != '/') fail("invalid path %s: use an absolute path", path);
  policy->grants[policy->grant_count++] = (path_grant){kind, path};
}

policy parse_policy(int argc, char **argv) {
  policy policy = {.cpu_seconds = UNLIMITED,
                   .data_bytes = UNLIMITED,
                   .open_files = UNLIMITED,
                   .file_bytes = UNLIMITED,
                   .inherited_fds = 3,
                   .report_fd = -1,
                   .parent_signal = SIGKILL};
  /* One more than there can be grants. Freed by the end of the process or its program. */
  policy.grants = calloc((size_t)argc, sizeof *policy.grants);
  if (!policy.grants) fail("out of memory");

  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, "+", OPTIONS, NULL)) != -1;) {
    switch (option) {
      case OPTION_READ: add_grant(&policy, ACCESS_READ, optarg); break;
      case OPTION_EXECUTE: add_grant(&policy, ACCESS_EXECUTE, optarg); break;
      case OPTION_WRITE: add_grant(&policy, ACCESS_WRITE, optarg); break;
      case OPTION_DEVICE: add_grant(&policy, ACCESS_DEVICE, optarg); break;
      case OPTION_SOCKETS: policy.sockets = true; break;
      case OPTION_PROCESSES: policy.processes = true; break;
      case OPTION_THREAD_NAMES: policy.thread_names = true; break;
      case OPTION_CPU: policy.cpu_seconds = parse_number(optarg); break;
      case OPTION_DATA: policy.data_bytes = parse_number(optarg); break;
      case OPTION_OPEN_FILES: policy.open_files = parse_number(optarg); break;
      case OPTION_FILE_SIZE: policy.file_bytes = parse_number(optarg); break;
      case OPTION_PARENT: policy.parent = (pid_t)parse_number(optarg); break;
      case OPTION_PARENT_SIGNAL: policy.parent_signal = (int)parse_number(optarg); break;
      case OPTION_INHERIT: policy.inherited_fds = (int)parse_number(optarg); break;
      case OPTION_REPORT:
        policy.report_fd = (int)parse_number(optarg);
        set_report_fd(policy.report_fd);
        break;
      case OPTION_REPORT_VARIABLE: policy.report_variable = optarg; break;
      default: fail("unknown or incomplete option %s", argv[optind - 1]);
    }
  }

  policy.command = argv + optind;
  if (policy.command[0] == NULL || policy.command[0][0] != '/') {
    fail("no program: end the options with -- and the absolute path of a program");
  }
  if (policy.parent == 0) {
    fail("no parent: pass --parent and the id of the process that starts the launcher");
  }
  return policy;
}

bool grants_writing(const policy *policy) {
  for (size_t i = 0; i < policy->grant_count; i++) {
    if (policy->grants[i].kind == ACCESS_WRITE) return true;
  }
  return false;
}
