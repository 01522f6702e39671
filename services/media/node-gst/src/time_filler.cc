#include "time_filler.h"

// A tick of 90 kHz, rounded up so that two times never round to the same tick.
static constexpr GstClockTime kTick = GST_SECOND / 90'000 + 1;

static GstPadProbeReturn onBuffer(GstPad *, GstPadProbeInfo *info, gpointer data) {
  GstClockTime &previous = *static_cast<GstClockTime *>(data);
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  bool follows = GST_CLOCK_TIME_IS_VALID(previous);
  bool increases =
      GST_BUFFER_PTS_IS_VALID(buffer) && (!follows || GST_BUFFER_PTS(buffer) > previous);
  if (follows && !increases) {
    buffer = gst_buffer_make_writable(buffer);
    GST_BUFFER_PTS(buffer) = previous + kTick;
    GST_PAD_PROBE_INFO_DATA(info) = buffer;
  }
  previous = GST_BUFFER_PTS(buffer);
  return GST_PAD_PROBE_OK;
}

void fillTimes(GstPad *pad) {
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, onBuffer, new GstClockTime(GST_CLOCK_TIME_NONE),
                    [](gpointer previous) { delete static_cast<GstClockTime *>(previous); });
}
