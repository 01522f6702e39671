#include "timeline.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "owned.h"

// Enough for the buffers in a decoder, even if the offset changes with every packet.
static constexpr size_t kMaxOffsets = 256;

static int64_t floorDivide(int64_t value, int64_t by) {
  return value / by - (value % by < 0 ? 1 : 0);
}

// Rounds to 90 kHz ticks: 9 ticks are 100 µs.
static int64_t toTicks(int64_t ns) { return floorDivide(ns * 9 + 50'000, 100'000); }

static std::optional<int64_t> runningTime(const GstSegment &segment, GstClockTime time) {
  if (!GST_CLOCK_TIME_IS_VALID(time)) return std::nullopt;
  if (segment.format != GST_FORMAT_TIME) return static_cast<int64_t>(time);
  guint64 running = 0;
  int sign = gst_segment_to_running_time_full(&segment, GST_FORMAT_TIME, time, &running);
  if (sign == 0) return std::nullopt;
  return sign * static_cast<int64_t>(running);
}

std::optional<int64_t> runningTicks(const GstSegment &segment, GstClockTime time) {
  auto ns = runningTime(segment, time);
  return ns ? std::optional(toTicks(*ns)) : std::nullopt;
}

void Timeline::setPtsOffset(int64_t ticks) {
  std::lock_guard lock(mutex_);
  if (stamped_ && ticks != offsets_.rbegin()->second) {
    throw std::logic_error(
        "ptsOffset is fixed once the first buffer has passed: call realign() to change it for "
        "later buffers");
  }
  if (!stamped_) offsets_ = {{INT64_MIN, ticks}};
}

void Timeline::realign(int64_t ticks) {
  std::lock_guard lock(mutex_);
  offsets_[newestRunning_ == INT64_MIN ? INT64_MIN : newestRunning_ + 1] = ticks;
  if (offsets_.size() > kMaxOffsets) offsets_.erase(offsets_.begin());
}

int64_t Timeline::findOffset(int64_t running) const {
  auto later = offsets_.upper_bound(running);
  return later == offsets_.begin() ? later->second : std::prev(later)->second;
}

std::optional<int64_t> Timeline::timeAnchor() {
  int64_t anchor = anchorUs_;
  if (anchor != kUnknownAnchor) return anchor;
  Owned<GstElement> pipeline(static_cast<GstElement *>(g_weak_ref_get(&pipeline_)));
  // On the way to PLAYING, a pipeline gets its clock shortly before its base time.
  if (!pipeline || gst_element_get_base_time(pipeline.get()) == 0) return std::nullopt;
  // The wall clock is read first: if the thread is preempted between the two readings, buffers
  // appear too old, but never from the future.
  int64_t wallUs = g_get_real_time();
  GstClockTime running = gst_element_get_current_running_time(pipeline.get());
  if (!GST_CLOCK_TIME_IS_VALID(running)) return std::nullopt;
  int64_t measured = wallUs - static_cast<int64_t>(running / 1000);
  // Another thread may have set it meanwhile.
  return anchorUs_.compare_exchange_strong(anchor, measured) ? measured : anchor;
}

Stamp Timeline::stamp(const GstSegment &segment, GstBuffer *buffer) {
  Stamp stamp;
  auto pts = runningTime(segment, GST_BUFFER_PTS(buffer));
  auto dts = runningTime(segment, GST_BUFFER_DTS(buffer));
  if (pts) stamp.running = toTicks(*pts);
  int64_t offset;
  {
    std::lock_guard lock(mutex_);
    stamped_ = true;
    if (stamp.running) newestRunning_ = std::max(newestRunning_, *stamp.running);
    offset = findOffset(stamp.running.value_or(newestRunning_));
  }
  if (pts) {
    stamp.pts = offset + *stamp.running;
    if (auto anchor = timeAnchor()) stamp.timeUs = *anchor + floorDivide(*pts, 1000);
  }
  if (dts) stamp.dts = offset + toTicks(*dts);
  if (GST_BUFFER_DURATION_IS_VALID(buffer)) {
    // The difference of rounded times is used so that the durations of a stream without gaps add
    // up.
    int64_t start = pts.value_or(0);
    int64_t end = start + static_cast<int64_t>(GST_BUFFER_DURATION(buffer));
    stamp.duration = toTicks(end) - toTicks(start);
  }
  return stamp;
}
