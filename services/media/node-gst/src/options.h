#pragma once

#include <napi.h>

#include <cmath>
#include <optional>
#include <string>

// Reading of arguments. A value of the wrong kind throws a TypeError that names it.

inline double wholeNumber(const Napi::Value &value, const char *name, double least) {
  double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : NAN;
  if (number >= least && number <= 9007199254740991.0 && std::trunc(number) == number) return number;
  throw Napi::TypeError::New(value.Env(), std::string(name) + " must be a whole number from " +
                                              std::to_string(static_cast<int64_t>(least)));
}

inline int64_t wholeOption(const Napi::Object &options, const char *name, double least) {
  return static_cast<int64_t>(wholeNumber(options.Get(name), name, least));
}

// Nothing when the option is left out, or null.
inline std::optional<int64_t> wholeIfGiven(const Napi::Object &options, const char *name, double least) {
  Napi::Value value = options.Get(name);
  if (value.IsUndefined() || value.IsNull()) return std::nullopt;
  return static_cast<int64_t>(wholeNumber(value, name, least));
}

inline bool flagOption(const Napi::Object &options, const char *name) { return options.Get(name).ToBoolean(); }

inline std::string text(const Napi::Value &value, const char *name) {
  if (value.IsString()) return value.As<Napi::String>();
  throw Napi::TypeError::New(value.Env(), std::string(name) + " must be a string");
}

inline Napi::Object object(const Napi::Value &value, const char *name) {
  if (value.IsObject()) return value.As<Napi::Object>();
  throw Napi::TypeError::New(value.Env(), std::string(name) + " must be an object");
}

inline Napi::Function function(const Napi::Value &value, const char *name) {
  if (value.IsFunction()) return value.As<Napi::Function>();
  throw Napi::TypeError::New(value.Env(), std::string(name) + " must be a function");
}
