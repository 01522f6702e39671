#pragma once

#include <gst/video/video.h>

#include <memory>
#include <mutex>
#include <string>

#include "mailbox.h"
#include "ring_file.h"
#include "tap.h"
#include "timeline.h"

// Writes the frames of an appsink into a ring, and notifies JavaScript of the newest frame.
class RingFeed : public Tap {
 public:
  RingFeed(GstElement *appSink, std::shared_ptr<RingFile> ring, std::shared_ptr<Timeline> timeline,
           std::shared_ptr<Mailbox> mailbox, uint32_t callback);
  ~RingFeed() override;

 protected:
  void receive(GstSample *sample) override;
  void wake() override { ring_->wake(); }
  bool usesVideoMeta() const override { return true; }

 private:
  // Returns the reason why the sample cannot be written; empty on success.
  std::string write(GstSample *sample);
  std::string readCaps(GstCaps *caps);
  std::string place(const RingFrame &frame, GstBuffer *buffer);
  void announce(const RingFrame &frame);
  void warnOnce(const std::string &reason);

  const std::shared_ptr<RingFile> ring_;
  const std::shared_ptr<Timeline> timeline_;
  const std::shared_ptr<Mailbox> mailbox_;
  const uint32_t callback_;
  GstCaps *caps_ = nullptr;
  GstVideoInfo info_;
  bool warned_ = false;

  std::mutex mutex_;
  RingFrame newest_ = {};
  bool announcing_ = false;
};
