#pragma once

#include <gst/gst.h>
#include <napi.h>

// Return numbers in ns; null if GStreamer does not know.
Napi::Value queryPosition(Napi::Env env, GstElement *pipeline);
Napi::Value queryDuration(Napi::Env env, GstElement *pipeline);
Napi::Value queryLatency(Napi::Env env, GstElement *pipeline);
Napi::Value queryRunningTime(Napi::Env env, GstElement *pipeline);
