#pragma once

#include <gst/gst.h>
#include <napi.h>

#include <functional>
#include <memory>

#include "timeline.h"

// A sample mapped for reading, until it is given back: by hand, or at the latest by the destructor.
class HeldSample {
 public:
  // Takes over `sample`. `givenBack` is called once.
  HeldSample(GstSample *sample, std::function<void()> givenBack);
  ~HeldSample();
  HeldSample(const HeldSample &) = delete;

  void giveBack();

  GstSample *sample() const { return sample_; }
  GstBuffer *buffer() const { return gst_sample_get_buffer(sample_); }
  guint8 *data() const { return map_.data; }
  gsize size() const { return map_.size; }

 private:
  GstSample *sample_;
  GstMapInfo map_ = GST_MAP_INFO_INIT;
  bool mapped_;
  std::function<void()> givenBack_;
};

// The JavaScript object `Sample`.
class Sample : public Napi::ObjectWrap<Sample> {
 public:
  static Napi::Function define(Napi::Env env);
  static Napi::Object make(Napi::Env env, std::shared_ptr<HeldSample> held, const Stamp &stamp, GstCaps *newCaps);

  explicit Sample(const Napi::CallbackInfo &info) : ObjectWrap(info) {}

 private:
  void release(const Napi::CallbackInfo &info);

  // None after the release.
  std::shared_ptr<HeldSample> held_;
};
