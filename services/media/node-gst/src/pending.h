#pragma once

#include <napi.h>

#include <functional>
#include <memory>
#include <optional>

#include "failure.h"
#include "mailbox.h"

// A JavaScript promise that any thread may resolve or reject, once. The owner and the event loop
// stay alive until then.
class Pending : public std::enable_shared_from_this<Pending> {
 public:
  // Must be called on the JavaScript thread.
  static std::shared_ptr<Pending> begin(Napi::Env env, std::shared_ptr<Mailbox> mailbox);
  Napi::Value promise() const { return deferred_.Promise(); }

  // Resolves the promise, or rejects it with `failure`. `before` runs first, on the JavaScript
  // thread.
  void resolve(
      std::optional<Failure> failure, std::function<void()> before = [] {});

 private:
  Pending(Napi::Env env, std::shared_ptr<Mailbox> mailbox);

  Napi::Promise::Deferred deferred_;
  std::shared_ptr<Mailbox> mailbox_;
};
