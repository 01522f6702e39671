#pragma once

#include <gst/gst.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

// The times of a buffer: `timeUs` in µs since 1970, `running` in 90 kHz ticks of running time,
// others in 90 kHz ticks of stream time.
struct Stamp {
  std::optional<int64_t> pts;
  std::optional<int64_t> dts;
  std::optional<int64_t> duration;
  std::optional<int64_t> timeUs;
  std::optional<int64_t> running;
};

// Returns the running time in 90 kHz ticks; nothing for a time that is invalid or outside of the
// segment.
std::optional<int64_t> runningTicks(const GstSegment &segment, GstClockTime time);

// Maps running time to stream time. Times are rounded once and in integers, so that packets and
// frames get equal times.
class Timeline {
 public:
  explicit Timeline(GstElement *pipeline) { g_weak_ref_init(&pipeline_, pipeline); }
  ~Timeline() { g_weak_ref_clear(&pipeline_); }
  Timeline(const Timeline &) = delete;

  // Throws std::logic_error if a buffer has already been stamped with another offset.
  void setPtsOffset(int64_t ticks);
  // Sets the offset for buffers after the newest one that has been stamped. A buffer that is
  // stamped again, such as a packet and its decoded frame, keeps its offset.
  void realign(int64_t ticks);
  // Sets the wall clock at running time 0. Without this call, it is measured for the first buffer.
  void setTimeAnchor(int64_t us) { anchorUs_ = us; }

  Stamp stamp(const GstSegment &segment, GstBuffer *buffer);

 private:
  static constexpr int64_t kUnknownAnchor = INT64_MIN;

  int64_t findOffset(int64_t running) const;
  // Returns nothing if no anchor was set and the pipeline does not play.
  std::optional<int64_t> timeAnchor();

  GWeakRef pipeline_;
  std::mutex mutex_;
  bool stamped_ = false;
  // Each offset, by the running time in ticks from which it applies.
  std::map<int64_t, int64_t> offsets_ = {{INT64_MIN, 0}};
  int64_t newestRunning_ = INT64_MIN;
  std::atomic<int64_t> anchorUs_ = kUnknownAnchor;
};
