#include <node_api.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>

/*
 * A Node addon that closes the memory of its process to other processes of the same user. The
 * kernel resets the flag when a program is started, so that the process itself must set it.
 */

/* Returns whether other processes can neither read the memory of this process nor find it in a core
 * file. */
static napi_value protect(napi_env env, napi_callback_info info) {
  (void)info;
  const struct rlimit no_core = {0, 0};
  const int is_protected =
      setrlimit(RLIMIT_CORE, &no_core) == 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
  napi_value result;
  return napi_get_boolean(env, is_protected, &result) == napi_ok ? result : NULL;
}

NAPI_MODULE_INIT() {
  napi_value function;
  if (napi_create_function(env, "protect", NAPI_AUTO_LENGTH, protect, NULL, &function) != napi_ok) {
    return NULL;
  }
  return napi_set_named_property(env, exports, "protect", function) == napi_ok ? exports : NULL;
}
