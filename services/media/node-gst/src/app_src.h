#pragma once

#include <gst/gst.h>

#include <cstdint>

// Copies the bytes into a buffer for an appsrc and returns the number of bytes queued there. Throws
// std::invalid_argument if `element` is not an appsrc, std::runtime_error if it accepts no more
// data.
uint64_t push(GstElement *element, const uint8_t *data, size_t size, GstClockTime pts,
              GstClockTime dts, GstClockTime duration, bool decodeOnly);
void endOfStream(GstElement *element);
