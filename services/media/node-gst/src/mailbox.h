#pragma once

#include <napi.h>

#include <functional>
#include <memory>
#include <mutex>

// The way from GStreamer's threads into JavaScript, and what keeps the JavaScript object there while it is needed.
//
// Letters are opened on the JavaScript thread in the order in which they were posted. Callbacks are kept as
// properties of the owner rather than as roots of the collector, since they usually refer back to the owner.
class Mailbox {
 public:
  using Letter = std::function<void(Napi::Env)>;

  Mailbox(Napi::Env env, Napi::Object owner);

  // From any thread. Dropped once the mailbox is closed.
  void post(Letter letter);

  // The rest on the JavaScript thread.

  uint32_t keep(Napi::Function callback);
  void forget(uint32_t callback);
  // Does nothing when the callback has been forgotten. What it throws becomes an uncaught exception.
  void call(Napi::Env env, uint32_t callback, std::initializer_list<napi_value> arguments);

  // As long as there are more holds than releases, owner and event loop stay alive.
  void hold();
  void release();

  // Before the environment goes.
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
