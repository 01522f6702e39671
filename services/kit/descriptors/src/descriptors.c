#include <node_api.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * A Node addon that passes open files to another process through a socket (SCM_RIGHTS). Node itself
 * passes sockets only.
 */

/* What `receive` returns if no descriptor has arrived. */
#define NONE (-1)

/* The control data of a message: the descriptor that it passes. The union aligns the data. */
typedef union {
  struct cmsghdr header;
  char space[CMSG_SPACE(sizeof(int))];
} control;

/* Creates a message with control data and one byte, without which Linux does not deliver the
 * descriptor. */
static struct msghdr create_message(struct iovec *byte, control *control) {
  memset(control, 0, sizeof *control);
  return (struct msghdr){.msg_iov = byte,
                         .msg_iovlen = 1,
                         .msg_control = control->space,
                         .msg_controllen = sizeof control->space};
}

/* Reads the first `count` arguments, all of them integers. Returns 0 if that fails. */
static int get_arguments(napi_env env, napi_callback_info info, size_t count, int *values) {
  napi_value arguments[2];
  size_t given = count;
  if (napi_get_cb_info(env, info, &given, arguments, NULL, NULL) != napi_ok || given < count) {
    return 0;
  }
  for (size_t i = 0; i < count; i++) {
    if (napi_get_value_int32(env, arguments[i], &values[i]) != napi_ok) return 0;
  }
  return 1;
}

static napi_value to_number(napi_env env, int value) {
  napi_value result;
  return napi_create_int32(env, value, &result) == napi_ok ? result : NULL;
}

/* createPair(): two connected sockets [own, other]. The program that inherits the other one finds
 * it open. */
static napi_value create_pair(napi_env env, napi_callback_info info) {
  (void)info;
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return NULL;
  napi_value result;
  if (napi_create_array_with_length(env, 2, &result) != napi_ok) return NULL;
  for (unsigned i = 0; i < 2; i++) {
    napi_value number = to_number(env, pair[i]);
    if (number == NULL || napi_set_element(env, result, i, number) != napi_ok) return NULL;
  }
  return result;
}

/* send(socket, file): whether the descriptor was sent. */
static napi_value send_descriptor(napi_env env, napi_callback_info info) {
  int values[2];
  if (!get_arguments(env, info, 2, values)) return NULL;
  char content = 0;
  struct iovec byte = {&content, 1};
  control control;
  struct msghdr message = create_message(&byte, &control);
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &values[1], sizeof(int));
  const int is_sent = sendmsg(values[0], &message, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
  napi_value result;
  return napi_get_boolean(env, is_sent, &result) == napi_ok ? result : NULL;
}

/* receive(socket): the next descriptor, or -1 if none has arrived. */
static napi_value receive_descriptor(napi_env env, napi_callback_info info) {
  int socket;
  if (!get_arguments(env, info, 1, &socket)) return NULL;
  char content = 0;
  struct iovec byte = {&content, 1};
  control control;
  struct msghdr message = create_message(&byte, &control);
  if (recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0) return to_number(env, NONE);
  const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (header == NULL || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
    return to_number(env, NONE);
  }
  int descriptor;
  memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return to_number(env, descriptor);
}

static int add_function(napi_env env, napi_value exports, const char *name,
                        napi_callback callback) {
  napi_value function;
  return napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, NULL, &function) == napi_ok &&
         napi_set_named_property(env, exports, name, function) == napi_ok;
}

NAPI_MODULE_INIT() {
  const int is_complete = add_function(env, exports, "createPair", create_pair) &&
                          add_function(env, exports, "send", send_descriptor) &&
                          add_function(env, exports, "receive", receive_descriptor);
  return is_complete ? exports : NULL;
}
