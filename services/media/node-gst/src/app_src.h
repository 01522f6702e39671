#pragma once

#include <gst/gst.h>

#include <cstdint>

// Copies the bytes into a buffer for an appsrc and returns how many wait there. Throws std::invalid_argument when
// `element` is no appsrc, std::runtime_error when it takes no more.
uint64_t push(GstElement *element, const uint8_t *data, size_t size, GstClockTime pts, GstClockTime dts,
              GstClockTime duration, bool decodeOnly);
void endOfStream(GstElement *element);
