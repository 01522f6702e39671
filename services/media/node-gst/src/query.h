#pragma once

#include <gst/gst.h>
#include <napi.h>

// These functions return times in ns, or null if GStreamer does not know the time.
Napi::Value queryPosition(Napi::Env env, GstElement *pipeline);
Napi::Value queryDuration(Napi::Env env, GstElement *pipeline);
Napi::Value queryLatency(Napi::Env env, GstElement *pipeline);
Napi::Value queryRunningTime(Napi::Env env, GstElement *pipeline);
