#pragma once

#include <gst/gst.h>
#include <napi.h>

#include <string>

// Both throw std::invalid_argument that names the element and property.
Napi::Value getProperty(Napi::Env env, GstElement *element, const std::string &name);
void setProperty(GstElement *element, const std::string &name, const std::string &value);
