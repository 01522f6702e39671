#pragma once

#include <gst/gst.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

// The times of a buffer: `timeUs` in µs since 1970, others in 90 kHz ticks of stream time.
struct Stamp {
  std::optional<int64_t> pts;
  std::optional<int64_t> dts;
  std::optional<int64_t> duration;
  std::optional<int64_t> timeUs;
};

// Maps running time to stream time. Times are rounded once and in integers, so that packets and frames get equal times.
class Timeline {
 public:
  // Throws std::logic_error if a buffer has already been stamped with another offset.
  void setPtsOffset(int64_t ticks);
  void setTimeAnchor(int64_t us) { anchorUs_ = us; }

  Stamp stamp(const GstSegment &segment, GstBuffer *buffer);

 private:
  std::mutex mutex_;
  bool stamped_ = false;
  int64_t ptsOffset_ = 0;
  std::atomic<int64_t> anchorUs_ = 0;
};
