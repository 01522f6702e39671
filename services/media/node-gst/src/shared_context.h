#pragma once

#include <gst/gst.h>

// Gives all pipelines of the process the same CUDA context, by the messages on their buses. Without
// it, each pipeline would create its own, which takes a fifth of a second and half a gigabyte of
// the graphics processor.
void shareContext(GstMessage *message);
