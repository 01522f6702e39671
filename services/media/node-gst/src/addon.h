#pragma once

#include <napi.h>

// The addon's classes in one JavaScript environment.
struct Addon {
  Napi::FunctionReference sample;
  Napi::FunctionReference ring;
};
