#pragma once

#include <gst/gst.h>
#include <napi.h>

#include <string>

Napi::Value toJs(Napi::Env env, const GValue *value);
Napi::Object fieldsToJs(Napi::Env env, const GstStructure *structure);
// Converts the first structure of `caps`, which must be fixed.
Napi::Object capsToJs(Napi::Env env, GstCaps *caps);

// Parses text in the notation of GStreamer into `value`, which must have the type of the property.
// Returns false if the text is invalid for the type.
bool fromText(GValue *value, const std::string &text, GParamSpec *property);
