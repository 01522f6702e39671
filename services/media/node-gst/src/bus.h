#pragma once

#include <gst/gst.h>
#include <napi.h>

// Whether `message`, from the bus of `pipeline`, is passed to JavaScript.
bool isForJs(GstMessage *message, GstElement *pipeline);
Napi::Object messageToJs(Napi::Env env, GstMessage *message);
