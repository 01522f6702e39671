#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What a launched program may do. Everything that is not granted is refused. */

/* Kinds of access to a path and, if it is a folder, to everything below. */
typedef enum {
  ACCESS_READ,
  ACCESS_EXECUTE, /* Read, and start as a program. */
  ACCESS_WRITE,   /* Read, write, create and delete. */
  ACCESS_DEVICE   /* Read, write and control a device. */
} access_kind;

typedef struct {
  access_kind kind;
  const char *path;
} path_grant;

typedef struct {
  path_grant *grants;
  size_t grant_count;
  bool sockets;      /* Open network and Unix sockets. */
  bool processes;    /* Start processes, and signal them. */
  bool thread_names; /* Write the names of the own threads as files, as CUDA does. */
  long cpu_seconds;
  long data_bytes;
  long open_files;
  long file_bytes;
  pid_t parent;      /* The program ends with this process, its parent. */
  int inherited_fds; /* Descriptors below this number stay open. */
  int report_fd;     /* Where the launcher reports what it applied. */
  int parent_signal; /* What the program receives when its parent ends. */
  /* Environment variable of the program that contains the report, or NULL. */
  const char *report_variable;
  char **command; /* Absolute path of the program, and its arguments. */
} policy;

/* Whether files may be changed. */
bool grants_writing(const policy *policy);

/* A limit that is not set. */
#define UNLIMITED (-1L)

/* Parses the options of the command line. Ends the process with an error if they are invalid. */
policy parse_policy(int argc, char **argv);
