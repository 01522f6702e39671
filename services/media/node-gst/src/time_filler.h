#pragma once

#include <gst/gst.h>

// Makes the timestamps of the buffers that pass a pad increase. A buffer without a timestamp, or
// with one that is not later than the previous one, gets the previous one plus a tick of stream
// time. For streams of independent pictures.
void fillTimes(GstPad *pad);
