#pragma once

#include <napi.h>

#include <memory>

#include "ring_file.h"

// The JavaScript class `Ring`.
class Ring : public Napi::ObjectWrap<Ring> {
 public:
  static Napi::Function define(Napi::Env env);
  // Throws a TypeError if `value` is not a ring.
  static std::shared_ptr<RingFile> unwrapFile(const Napi::Value &value);

  explicit Ring(const Napi::CallbackInfo &info);

 private:
  void grant(const Napi::CallbackInfo &info);
  void setPacing(const Napi::CallbackInfo &info);
  Napi::Value stats(const Napi::CallbackInfo &info);
  void close(const Napi::CallbackInfo &info);

  // Shared with the feeds that write into the file. After the ring is garbage-collected, the last
  // feed closes the file.
  std::shared_ptr<RingFile> file_;
};
