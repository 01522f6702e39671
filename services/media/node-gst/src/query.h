#pragma once

#include <gst/gst.h>
#include <napi.h>

// Numbers in ns; null where GStreamer has no answer.
Napi::Value queryPosition(Napi::Env env, GstElement *pipeline);
Napi::Value queryDuration(Napi::Env env, GstElement *pipeline);
Napi::Value queryLatency(Napi::Env env, GstElement *pipeline);
Napi::Value queryRunningTime(Napi::Env env, GstElement *pipeline);
