#pragma once

#include <napi.h>

// Constructors of the addon's classes in one JavaScript environment.
struct Addon {
  Napi::FunctionReference sample;
  Napi::FunctionReference ring;
};
