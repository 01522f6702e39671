#include "numbering.h"

#include <cmath>

// Half a millisecond, because some containers round timestamps to milliseconds.
static constexpr int64_t kToleranceTicks = 45;

// After a shorter gap, objects have hardly moved, so tracking can continue.
static constexpr GstClockTime kMinInterruption = GST_SECOND;
// Marks a frame after an interruption. Stored in the duration field of the frame number's meta,
// which is otherwise unused.
static constexpr GstClockTime kInterruptedMark = 1;

static GstCaps *numberCaps() {
  static GstCaps *caps = gst_caps_new_empty_simple("timestamp/x-frame-number");
  return caps;
}

uint64_t Numbering::getNumber(GstBuffer *buffer) {
  if (auto *meta = gst_buffer_get_reference_timestamp_meta(buffer, numberCaps())) {
    return meta->timestamp;
  }
  return GST_BUFFER_OFFSET_IS_VALID(buffer) ? GST_BUFFER_OFFSET(buffer) : 0;
}

bool Numbering::isInterrupted(GstBuffer *buffer) {
  if (auto *meta = gst_buffer_get_reference_timestamp_meta(buffer, numberCaps())) {
    return meta->duration == kInterruptedMark;
  }
  return GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT);
}

Numbering::Numbering(std::shared_ptr<Timeline> timeline, uint64_t start, double rate)
    : timeline_(std::move(timeline)), next_(start), rate_(rate) {}

void Numbering::watch(GstPad *pad) {
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, onBuffer,
                    new std::shared_ptr<Numbering>(shared_from_this()),
                    [](gpointer data) { delete static_cast<std::shared_ptr<Numbering> *>(data); });
}

void Numbering::continueFrom(uint64_t next, int64_t pts) {
  uint64_t current = next_;
  while (current < next && !next_.compare_exchange_weak(current, next)) {
  }
  droppedUntil_ = pts;
}

GstPadProbeReturn Numbering::onBuffer(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  Numbering &numbering = **static_cast<std::shared_ptr<Numbering> *>(data);
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  numbering.discont_ |= !!GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT);
  numbering.interrupted_ |= numbering.isInterruption(buffer);
  if (!numbering.isDue(pad, buffer)) return GST_PAD_PROBE_DROP;
  buffer = gst_buffer_make_writable(buffer);
  GST_BUFFER_OFFSET(buffer) = numbering.next_++;
  gst_buffer_add_reference_timestamp_meta(
      buffer, numberCaps(), GST_BUFFER_OFFSET(buffer),
      numbering.interrupted_ ? kInterruptedMark : GST_CLOCK_TIME_NONE);
  if (numbering.discont_) GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
  numbering.discont_ = false;
  numbering.interrupted_ = false;
  GST_PAD_PROBE_INFO_DATA(info) = buffer;
  return GST_PAD_PROBE_OK;
}

bool Numbering::isInterruption(GstBuffer *buffer) {
  GstClockTime last = lastTime_;
  lastTime_ = GST_BUFFER_PTS(buffer);
  if (!GST_CLOCK_TIME_IS_VALID(last)) return true;
  if (!GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT) ||
      !GST_CLOCK_TIME_IS_VALID(lastTime_)) {
    return false;
  }
  return lastTime_ < last || lastTime_ - last > kMinInterruption;
}

bool Numbering::isDue(GstPad *pad, GstBuffer *buffer) {
  double rate = rate_;
  if (rate == 0) return true;
  GstEvent *event = gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0);
  if (!event) return true;
  const GstSegment *segment;
  gst_event_parse_segment(event, &segment);
  Stamp stamp = timeline_->stamp(*segment, buffer);
  gst_event_unref(event);
  // Frames without a time do not reach a ring. If they were numbered, numbers would be missing
  // there.
  if (!stamp.pts) return false;
  if (*stamp.pts <= droppedUntil_) return false;
  auto period = static_cast<int64_t>(
      std::floor(static_cast<double>(*stamp.pts + kToleranceTicks) * rate / 90'000));
  if (period == passedPeriod_) return false;
  passedPeriod_ = period;
  newestPts_ = *stamp.pts;
  return true;
}
