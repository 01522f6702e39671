#pragma once

#include <gst/gst.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "timeline.h"

// Numbers the frames that pass a pad, and limits the frame rate. The number is stored in
// GST_BUFFER_OFFSET and, because encoders do not preserve the offset, in a meta.
class Numbering : public std::enable_shared_from_this<Numbering> {
 public:
  // `rate` in frames per second; 0 for unlimited.
  Numbering(std::shared_ptr<Timeline> timeline, uint64_t start, double rate);

  // Returns 0 for a frame without a number.
  static uint64_t getNumber(GstBuffer *buffer);
  // Returns whether the stream was interrupted before this frame. The DISCONT flag is also set when
  // a queue drops a frame.
  static bool isInterrupted(GstBuffer *buffer);

  void watch(GstPad *pad);
  uint64_t next() const { return next_; }
  // The stream time of the newest frame that has passed, in 90 kHz ticks; INT64_MIN before the
  // first.
  int64_t newestPts() const { return newestPts_; }
  // Raises the number of the next frame to `next`, and drops frames up to `pts`.
  void continueFrom(uint64_t next, int64_t pts);
  void setRate(double rate) { rate_ = rate; }

 private:
  static GstPadProbeReturn onBuffer(GstPad *pad, GstPadProbeInfo *info, gpointer numbering);
  bool isDue(GstPad *pad, GstBuffer *buffer);
  bool isInterruption(GstBuffer *buffer);

  const std::shared_ptr<Timeline> timeline_;
  std::atomic<uint64_t> next_;
  std::atomic<double> rate_;
  std::atomic<int64_t> newestPts_ = INT64_MIN;
  std::atomic<int64_t> droppedUntil_ = INT64_MIN;
  // The following members are used only by the streaming thread.
  int64_t passedPeriod_ = INT64_MIN;
  GstClockTime lastTime_ = GST_CLOCK_TIME_NONE;
  bool discont_ = false;
  bool interrupted_ = false;
};
