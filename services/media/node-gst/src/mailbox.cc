#include "mailbox.h"

static const char *const kCallbacks = "callbacks";

static void throwUncaught(const Napi::Error &error) {
  napi_fatal_exception(error.Env(), error.Value());
}

Mailbox::Mailbox(Napi::Env env, Napi::Object owner)
    : env_(env),
      owner_(Napi::Weak(owner)),
      threadSafeCall_(ThreadSafeCall::New(env, "node-gst", 0, 1)) {
  owner.DefineProperty(
      Napi::PropertyDescriptor::Value(kCallbacks, Napi::Object::New(env), napi_default));
  threadSafeCall_.Unref(env);
}

void Mailbox::post(Call call) {
  std::lock_guard lock(mutex_);
  if (closed_) return;
  auto owned = std::make_unique<Call>(std::move(call));
  if (threadSafeCall_.NonBlockingCall(owned.get()) == napi_ok) owned.release();
}

void Mailbox::run(Napi::Env env, Napi::Function, void *, Call *call) {
  std::unique_ptr<Call> owned(call);
  // The environment is being destroyed.
  if (!static_cast<napi_env>(env)) return;
  try {
    (*owned)(env);
  } catch (const Napi::Error &error) {
    throwUncaught(error);
  }
}

Napi::Object Mailbox::callbacks() const {
  return owner_.Value().Get(kCallbacks).As<Napi::Object>();
}

uint32_t Mailbox::addCallback(Napi::Function callback) {
  callbacks().Set(nextCallback_, callback);
  return nextCallback_++;
}

void Mailbox::removeCallback(uint32_t callback) {
  if (!owner_.Value().IsEmpty()) callbacks().Delete(callback);
}

void Mailbox::call(Napi::Env env, uint32_t callback, std::initializer_list<napi_value> arguments) {
  if (owner_.Value().IsEmpty()) return;
  Napi::Value function = callbacks().Get(callback);
  if (!function.IsFunction()) return;
  try {
    function.As<Napi::Function>().Call(arguments);
  } catch (const Napi::Error &error) {
    throwUncaught(error);
  }
}

void Mailbox::hold() {
  if (holds_++ > 0 || closed_) return;
  owner_.Ref();
  threadSafeCall_.Ref(env_);
}

void Mailbox::release() {
  if (--holds_ > 0 || closed_) return;
  threadSafeCall_.Unref(env_);
  owner_.Unref();
}

void Mailbox::close() {
  std::lock_guard lock(mutex_);
  if (closed_) return;
  closed_ = true;
  owner_.Reset();
  threadSafeCall_.Abort();
}
