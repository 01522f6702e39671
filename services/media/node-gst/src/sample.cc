#include "sample.h"

#include "addon.h"
#include "value.h"

HeldSample::HeldSample(GstSample *sample, std::function<void()> onRelease)
    : sample_(sample),
      mapped_(gst_buffer_map(gst_sample_get_buffer(sample), &map_, GST_MAP_READ)),
      onRelease_(std::move(onRelease)) {}

HeldSample::~HeldSample() { release(); }

void HeldSample::release() {
  if (!sample_) return;
  if (mapped_) gst_buffer_unmap(buffer(), &map_);
  gst_sample_unref(sample_);
  sample_ = nullptr;
  onRelease_();
}

Napi::Function Sample::define(Napi::Env env) {
  return DefineClass(env, "Sample", {InstanceMethod<&Sample::release>("release")});
}

static Napi::Uint8Array toBytes(Napi::Env env, const std::shared_ptr<HeldSample> &held) {
  if (held->size() == 0) return Napi::Uint8Array::New(env, 0);
  auto *owner = new std::shared_ptr<HeldSample>(held);
  auto memory = Napi::ArrayBuffer::New(
      env, held->data(), held->size(),
      [](Napi::Env, void *, std::shared_ptr<HeldSample> *finished) { delete finished; }, owner);
  return Napi::Uint8Array::New(env, held->size(), memory, 0);
}

Napi::Object Sample::make(Napi::Env env, std::shared_ptr<HeldSample> held, const Stamp &stamp,
                          GstCaps *newCaps) {
  auto number = [env](std::optional<int64_t> value) -> Napi::Value {
    if (!value) return env.Null();
    return Napi::Number::New(env, static_cast<double>(*value));
  };
  auto unlessNone = [](guint64 value) -> std::optional<int64_t> {
    if (value == GST_BUFFER_OFFSET_NONE) return std::nullopt;
    return static_cast<int64_t>(value);
  };
  GstBuffer *buffer = held->buffer();
  Napi::Object sample = env.GetInstanceData<Addon>()->sample.New({});
  Unwrap(sample)->held_ = held;
  sample.Set("data", toBytes(env, held));
  sample.Set("pts", number(stamp.pts));
  sample.Set("dts", number(stamp.dts));
  sample.Set("duration", number(stamp.duration));
  sample.Set("timeUs", number(stamp.timeUs));
  sample.Set("runningTicks", number(stamp.running));
  sample.Set("bufferPtsNs", number(unlessNone(GST_BUFFER_PTS(buffer))));
  sample.Set("offset", number(unlessNone(GST_BUFFER_OFFSET(buffer))));
  sample.Set("keyframe", !GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DELTA_UNIT));
  sample.Set("discont", !!GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT));
  sample.Set("header", !!GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_HEADER));
  sample.Set("caps", newCaps ? Napi::Value(capsToJs(env, newCaps)) : env.Null());
  return sample;
}

void Sample::release(const Napi::CallbackInfo &info) {
  if (!held_) return;
  auto data = info.This().As<Napi::Object>().Get("data").As<Napi::Uint8Array>();
  if (data.ByteLength() > 0) data.ArrayBuffer().Detach();
  held_->release();
  held_.reset();
}
