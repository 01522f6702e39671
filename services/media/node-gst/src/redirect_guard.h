#pragma once

#include <gst/gst.h>

// Makes every rtspsrc in a bin refuse redirects to other hosts. A camera could otherwise make this
// machine send requests to servers that only this machine can reach.
void guardRedirects(GstBin *bin);
