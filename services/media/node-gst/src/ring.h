#pragma once

#include <napi.h>

#include <memory>

#include "ring_file.h"

// The JavaScript class `Ring`.
class Ring : public Napi::ObjectWrap<Ring> {
 public:
  static Napi::Function define(Napi::Env env);
  // Throws a TypeError if `value` is not a ring.
  static std::shared_ptr<RingFile> fileOf(const Napi::Value &value);

  explicit Ring(const Napi::CallbackInfo &info);

 private:
  void grant(const Napi::CallbackInfo &info);
  void setPacing(const Napi::CallbackInfo &info);
  Napi::Value stats(const Napi::CallbackInfo &info);
  void close(const Napi::CallbackInfo &info);

  // Shared with the feeds that write into it: a ring that is garbage-collected is closed by the last of them.
  std::shared_ptr<RingFile> file_;
};
