#pragma once

#include <napi.h>

#include <functional>
#include <memory>
#include <optional>

#include "failure.h"
#include "mailbox.h"

// A promise that any thread may settle, once. Until then it keeps owner and event loop alive.
class Pending : public std::enable_shared_from_this<Pending> {
 public:
  // On the JavaScript thread.
  static std::shared_ptr<Pending> begin(Napi::Env env, std::shared_ptr<Mailbox> mailbox);
  Napi::Value promise() const { return deferred_.Promise(); }

  // `before` runs on the JavaScript thread just before the promise is settled.
  void settle(std::optional<Failure> failure, std::function<void()> before = [] {});

 private:
  Pending(Napi::Env env, std::shared_ptr<Mailbox> mailbox);

  Napi::Promise::Deferred deferred_;
  std::shared_ptr<Mailbox> mailbox_;
};
