#include "ring.h"

#include <limits>

#include "addon.h"
#include "options.h"

static std::vector<uint8_t> parseFill(const Napi::Object &options) {
  std::vector<uint8_t> values;
  Napi::Array components = options.Get("fill").As<Napi::Array>();
  if (!components.IsArray()) {
    throw Napi::TypeError::New(options.Env(), "fill must be an array of 0 to 255");
  }
  for (uint32_t i = 0; i < components.Length(); i++) {
    double value = parseInteger(components.Get(i), "fill", 0);
    if (value > 255) throw Napi::TypeError::New(options.Env(), "fill must be an array of 0 to 255");
    values.push_back(static_cast<uint8_t>(value));
  }
  return values;
}

static RingShape parseShape(const Napi::Object &options) {
  auto pixels = [](const Napi::Object &from, const char *name, double min) {
    int64_t value = parseIntegerOption(from, name, min);
    if (value > 65535) {
      throw Napi::TypeError::New(from.Env(), std::string(name) + " must be at most 65535");
    }
    return static_cast<uint32_t>(value);
  };
  Napi::Object content = object(options.Get("content"), "content");
  RingShape shape;
  shape.path = text(options.Get("path"), "path");
  shape.slots = pixels(options, "slots", 2);
  shape.width = pixels(options, "width", 1);
  shape.height = pixels(options, "height", 1);
  shape.format = text(options.Get("format"), "format");
  shape.contentX = pixels(content, "x", 0);
  shape.contentY = pixels(content, "y", 0);
  shape.contentWidth = pixels(content, "width", 1);
  shape.contentHeight = pixels(content, "height", 1);
  shape.fill = parseFill(options);
  // A single value applies to every component.
  if (shape.fill.size() == 1 && shape.format != "JPEG") {
    shape.fill.resize(PackedPicture(shape.format, 1, 1).components(), shape.fill[0]);
  }
  shape.generation = parseIntegerOption(options, "generation", 0);
  shape.epoch = parseIntegerOption(options, "epoch", 0);
  shape.sourceWidth = pixels(options, "sourceWidth", 1);
  shape.sourceHeight = pixels(options, "sourceHeight", 1);
  shape.payloadLimit = parseOptionalInteger(options, "payloadLimit", 1).value_or(0);
  shape.bytesLimit =
      parseOptionalInteger(options, "bytesLimit", 0).value_or(std::numeric_limits<int64_t>::max());
  return shape;
}

static bool parsePacing(const Napi::Value &pacing) {
  std::string name = text(pacing, "pacing");
  if (name == "all" || name == "newest") return name == "all";
  throw Napi::TypeError::New(pacing.Env(), "pacing must be \"newest\" or \"all\"");
}

Napi::Function Ring::define(Napi::Env env) {
  return DefineClass(
      env, "Ring",
      {InstanceMethod<&Ring::grant>("grant"), InstanceMethod<&Ring::setPacing>("setPacing"),
       InstanceMethod<&Ring::stats>("stats"), InstanceMethod<&Ring::close>("close")});
}

std::shared_ptr<RingFile> Ring::unwrapFile(const Napi::Value &value) {
  Napi::Env env = value.Env();
  if (value.IsObject() &&
      value.As<Napi::Object>().InstanceOf(env.GetInstanceData<Addon>()->ring.Value())) {
    return Unwrap(value.As<Napi::Object>())->file_;
  }
  throw Napi::TypeError::New(env, "ring must be a Ring");
}

Ring::Ring(const Napi::CallbackInfo &info) : ObjectWrap(info) {
  Napi::Object options = object(info[0], "options");
  Napi::Value pacing = options.Get("pacing");
  bool paced = !pacing.IsUndefined() && parsePacing(pacing);
  file_ = std::make_shared<RingFile>(parseShape(options));
  file_->setPaced(paced);
  Napi::Object self = info.This().As<Napi::Object>();
  self.Set("path", file_->shape().path);
  self.Set("bytes", static_cast<double>(file_->bytes()));
}

void Ring::grant(const Napi::CallbackInfo &info) { file_->grant(parseInteger(info[0], "n", 0)); }

void Ring::setPacing(const Napi::CallbackInfo &info) { file_->setPaced(parsePacing(info[0])); }

Napi::Value Ring::stats(const Napi::CallbackInfo &info) {
  RingFile::Stats stats = file_->stats();
  Napi::Object object = Napi::Object::New(info.Env());
  object.Set("written", static_cast<double>(stats.written));
  object.Set("dropped", static_cast<double>(stats.dropped));
  object.Set("waitedNs", static_cast<double>(stats.waitedNs));
  return object;
}

void Ring::close(const Napi::CallbackInfo &) { file_->close(); }
