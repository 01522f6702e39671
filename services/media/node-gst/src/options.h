#pragma once

#include <napi.h>

#include <cmath>
#include <optional>
#include <string>

// Parsers of JavaScript arguments. They throw a TypeError with the name of the argument if its type
// is wrong.

inline double parseInteger(const Napi::Value &value, const char *name, double min) {
  double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : NAN;
  if (number >= min && number <= 9007199254740991.0 && std::trunc(number) == number) return number;
  throw Napi::TypeError::New(value.Env(), std::string(name) + " must be a whole number from " +
                                              std::to_string(static_cast<int64_t>(min)));
}

inline int64_t parseIntegerOption(const Napi::Object &options, const char *name, double min) {
  return static_cast<int64_t>(parseInteger(options.Get(name), name, min));
}

// Returns nullopt if the option is missing or null.
inline std::optional<int64_t> parseOptionalInteger(const Napi::Object &options, const char *name,
                                                   double min) {
  Napi::Value value = options.Get(name);
  if (value.IsUndefined() || value.IsNull()) return std::nullopt;
  return static_cast<int64_t>(parseInteger(value, name, min));
}

inline bool parseFlagOption(const Napi::Object &options, const char *name) {
  return options.Get(name).ToBoolean();
}

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
