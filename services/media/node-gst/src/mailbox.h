#pragma once

#include <napi.h>

#include <functional>
#include <memory>
#include <mutex>

// Runs calls from GStreamer's threads on the JavaScript thread, in the order in which they were
// posted. Keeps the owner, a JavaScript object, alive while it is held.
//
// Callbacks are properties of the owner and not roots of the garbage collector, because they
// usually refer back to the owner.
class Mailbox {
 public:
  using Call = std::function<void(Napi::Env)>;

  Mailbox(Napi::Env env, Napi::Object owner);

  // May be called from any thread. Calls are dropped once the mailbox is closed.
  void post(Call call);

  // The following methods must be called on the JavaScript thread.

  uint32_t addCallback(Napi::Function callback);
  void removeCallback(uint32_t callback);
  // Calls a callback unless it has been removed. An exception from the callback becomes an uncaught
  // exception.
  void call(Napi::Env env, uint32_t callback, std::initializer_list<napi_value> arguments);

  // The owner and the event loop stay alive until `release` has been called as often as `hold`.
  void hold();
  void release();

  // Must be called before the environment is destroyed.
  void close();

 private:
  static void run(Napi::Env env, Napi::Function, void *, Call *call);
  using ThreadSafeCall = Napi::TypedThreadSafeFunction<void, Call, run>;

  Napi::Object callbacks() const;

  Napi::Env env_;
  Napi::ObjectReference owner_;
  uint32_t nextCallback_ = 0;
  int holds_ = 0;
  std::mutex mutex_;
  bool closed_ = false;
  ThreadSafeCall threadSafeCall_;
};
