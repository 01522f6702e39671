#pragma once

#include <gst/gst.h>
#include <napi.h>

// Whether JavaScript is told of `message`, which came from the bus of `pipeline`.
bool concernsJs(GstMessage *message, GstElement *pipeline);
Napi::Object messageToJs(Napi::Env env, GstMessage *message);
