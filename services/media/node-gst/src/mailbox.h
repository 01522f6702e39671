#pragma once

#include <napi.h>

#include <functional>
#include <memory>
#include <mutex>

// Passes calls from GStreamer's threads to JavaScript, and keeps the JavaScript object alive while it is needed.
//
// Letters run on the JavaScript thread in the order in which they were posted. Callbacks are stored as properties of the
// owner, not as roots of the garbage collector, since they usually refer back to the owner.
class Mailbox {
 public:
  using Letter = std::function<void(Napi::Env)>;

  Mailbox(Napi::Env env, Napi::Object owner);

  // May be called from any thread. Letters are dropped once the mailbox is closed.
  void post(Letter letter);

  // The following methods must be called on the JavaScript thread.

  uint32_t addCallback(Napi::Function callback);
  void removeCallback(uint32_t callback);
  // Does nothing if the callback was removed. An exception that it throws becomes an uncaught exception.
  void call(Napi::Env env, uint32_t callback, std::initializer_list<napi_value> arguments);

  // While there are more holds than releases, the owner and the event loop are kept alive.
  void hold();
  void release();

  // Must be called before the environment is destroyed.
  void close();

 private:
  static void open(Napi::Env env, Napi::Function, void *, Letter *letter);
  using Wire = Napi::TypedThreadSafeFunction<void, Letter, open>;

  Napi::Object callbacks() const;

  Napi::Env env_;
  Napi::ObjectReference owner_;
  uint32_t nextCallback_ = 0;
  int holds_ = 0;
  std::mutex mutex_;
  bool closed_ = false;
  Wire wire_;
};
