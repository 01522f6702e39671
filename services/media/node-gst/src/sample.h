#pragma once

#include <gst/gst.h>
#include <napi.h>

#include <functional>
#include <memory>

#include "timeline.h"

// A sample that is mapped for reading until it is released. The destructor releases the sample if
// necessary.
class HeldSample {
 public:
  // Takes ownership of `sample`. `onRelease` is called once.
  HeldSample(GstSample *sample, std::function<void()> onRelease);
  ~HeldSample();
  HeldSample(const HeldSample &) = delete;

  void release();

  GstSample *sample() const { return sample_; }
  GstBuffer *buffer() const { return gst_sample_get_buffer(sample_); }
  guint8 *data() const { return map_.data; }
  gsize size() const { return map_.size; }

 private:
  GstSample *sample_;
  GstMapInfo map_ = GST_MAP_INFO_INIT;
  bool mapped_;
  std::function<void()> onRelease_;
};

// The JavaScript class `Sample`.
class Sample : public Napi::ObjectWrap<Sample> {
 public:
  static Napi::Function define(Napi::Env env);
  static Napi::Object make(Napi::Env env, std::shared_ptr<HeldSample> held, const Stamp &stamp,
                           GstCaps *newCaps);

  explicit Sample(const Napi::CallbackInfo &info) : ObjectWrap(info) {}

 private:
  void release(const Napi::CallbackInfo &info);

  // Null after the release.
  std::shared_ptr<HeldSample> held_;
};
