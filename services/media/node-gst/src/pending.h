#pragma once

#include <napi.h>

#include <functional>
#include <memory>
#include <optional>

#include "failure.h"
#include "mailbox.h"

// A promise that any thread may resolve or reject, once. Until then it keeps the owner and the event loop alive.
class Pending : public std::enable_shared_from_this<Pending> {
 public:
  // Must be called on the JavaScript thread.
  static std::shared_ptr<Pending> begin(Napi::Env env, std::shared_ptr<Mailbox> mailbox);
  Napi::Value promise() const { return deferred_.Promise(); }

  // Rejects the promise if there is a failure. `before` runs on the JavaScript thread just before that.
  void resolve(std::optional<Failure> failure, std::function<void()> before = [] {});

 private:
  Pending(Napi::Env env, std::shared_ptr<Mailbox> mailbox);

  Napi::Promise::Deferred deferred_;
  std::shared_ptr<Mailbox> mailbox_;
};
