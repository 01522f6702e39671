#include "app_src.h"

#include <gst/app/gstappsrc.h>

#include <stdexcept>
#include <string>

static GstAppSrc *appSrc(GstElement *element) {
  if (GST_IS_APP_SRC(element)) return GST_APP_SRC(element);
  throw std::invalid_argument(std::string("element \"") + GST_OBJECT_NAME(element) +
                              "\" is not an appsrc");
}

static void requireOk(GstElement *element, GstFlowReturn flow) {
  if (flow == GST_FLOW_OK) return;
  throw std::runtime_error(std::string("appsrc \"") + GST_OBJECT_NAME(element) +
                           "\" accepts no more data: " + gst_flow_get_name(flow));
}

uint64_t push(GstElement *element, const uint8_t *data, size_t size, GstClockTime pts,
              GstClockTime dts, GstClockTime duration, bool decodeOnly) {
  GstAppSrc *source = appSrc(element);
  GstBuffer *buffer = gst_buffer_new_memdup(data, size);
  GST_BUFFER_PTS(buffer) = pts;
  GST_BUFFER_DTS(buffer) = dts;
  GST_BUFFER_DURATION(buffer) = duration;
  if (decodeOnly) GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DECODE_ONLY);
  requireOk(element, gst_app_src_push_buffer(source, buffer));
  return gst_app_src_get_current_level_bytes(source);
}

void endOfStream(GstElement *element) {
  requireOk(element, gst_app_src_end_of_stream(appSrc(element)));
}
