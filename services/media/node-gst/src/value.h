#pragma once

#include <gst/gst.h>
#include <napi.h>

#include <string>

Napi::Value toJs(Napi::Env env, const GValue *value);
Napi::Object fieldsToJs(Napi::Env env, const GstStructure *structure);
// The first structure of `caps`, which the caller knows to be fixed.
Napi::Object capsToJs(Napi::Env env, GstCaps *caps);

// Reads GStreamer's notation into `value`, which has the property's type. False when it makes no sense there.
bool fromText(GValue *value, const std::string &text, GParamSpec *property);
