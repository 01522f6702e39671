#pragma once

#include <gst/gst.h>
#include <napi.h>

// Returns whether a message from the bus of `pipeline` is passed to JavaScript.
bool isReported(GstMessage *message, GstElement *pipeline);
Napi::Object messageToJs(Napi::Env env, GstMessage *message);
