#include "pending.h"

Pending::Pending(Napi::Env env, std::shared_ptr<Mailbox> mailbox)
    : deferred_(Napi::Promise::Deferred::New(env)), mailbox_(std::move(mailbox)) {}

std::shared_ptr<Pending> Pending::begin(Napi::Env env, std::shared_ptr<Mailbox> mailbox) {
  std::shared_ptr<Pending> pending(new Pending(env, std::move(mailbox)));
  pending->mailbox_->hold();
  return pending;
}

void Pending::resolve(std::optional<Failure> failure, std::function<void()> before) {
  mailbox_->post([self = shared_from_this(), failure = std::move(failure),
                  before = std::move(before)](Napi::Env env) {
    before();
    if (failure) {
      self->deferred_.Reject(failure->toJs(env).Value());
    } else {
      self->deferred_.Resolve(env.Undefined());
    }
    self->mailbox_->release();
  });
}
