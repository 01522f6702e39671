#pragma once

#include <gst/gst.h>
#include <napi.h>

#include <string>

// Both functions throw std::invalid_argument with the names of the element and the property.
Napi::Value getProperty(Napi::Env env, GstElement *element, const std::string &name);
void setProperty(GstElement *element, const std::string &name, const std::string &value);
