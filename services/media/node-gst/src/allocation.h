#pragma once

#include <gst/video/video.h>

// Answers an allocation query in place of the downstream elements: accepts any buffer with
// GstVideoMeta. Other queries pass.
inline GstPadProbeReturn answerAllocation(GstQuery *query) {
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION) return GST_PAD_PROBE_OK;
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  return GST_PAD_PROBE_HANDLED;
}
