#include "ring_feed.h"

#include <cstring>

#include "numbering.h"

RingFeed::RingFeed(GstElement *appSink, std::shared_ptr<RingFile> ring,
                   std::shared_ptr<Timeline> timeline, std::shared_ptr<Mailbox> mailbox,
                   uint32_t callback)
    : Tap(appSink),
      ring_(std::move(ring)),
      timeline_(std::move(timeline)),
      mailbox_(std::move(mailbox)),
      callback_(callback) {}

RingFeed::~RingFeed() { gst_caps_replace(&caps_, nullptr); }

void RingFeed::receive(GstSample *sample) {
  std::string reason = write(sample);
  gst_sample_unref(sample);
  if (reason.empty()) return;
  ring_->countDropped();
  warnOnce(reason);
}

std::string RingFeed::write(GstSample *sample) {
  GstBuffer *buffer = gst_sample_get_buffer(sample);
  std::string mismatch = readCaps(gst_sample_get_caps(sample));
  if (!mismatch.empty()) return mismatch;
  uint64_t n = Numbering::getNumber(buffer);
  if (n == 0) return "it has no frame number: call number() on a pad upstream";
  Stamp stamp = timeline_->stamp(*gst_sample_get_segment(sample), buffer);
  if (!stamp.pts) return "it has no timestamp";
  if (!stamp.timeUs) return "it arrived before the pipeline played";
  RingFrame frame = {n, *stamp.pts, *stamp.timeUs};
  if (!ring_->waitForGrant(frame.n, [this] { return idle(); })) {
    ring_->countDropped();
    return {};
  }
  std::string reason = place(frame, buffer);
  if (reason.empty()) announce(frame);
  return reason;
}

std::string RingFeed::place(const RingFrame &frame, GstBuffer *buffer) {
  const uint32_t flags = Numbering::isInterrupted(buffer) ? kRingDiscont : 0;
  bool written;
  if (const auto &packing = ring_->picture()) {
    GstVideoFrame picture;
    if (!gst_video_frame_map(&picture, &info_, buffer, GST_MAP_READ)) {
      return "its memory cannot be mapped";
    }
    written = ring_->write(frame, flags, [&](uint8_t *payload) {
      packing->place(payload, picture, ring_->shape().contentX, ring_->shape().contentY);
      return packing->size();
    });
    gst_video_frame_unmap(&picture);
  } else {
    gsize bytes = gst_buffer_get_size(buffer);
    if (bytes > ring_->payloadSize()) {
      return "it has " + std::to_string(bytes) + " bytes, more than the slot size of " +
             std::to_string(ring_->payloadSize());
    }
    written = ring_->write(frame, flags, [&](uint8_t *payload) {
      return gst_buffer_extract(buffer, 0, payload, bytes);
    });
  }
  return written ? ""
                 : "its number " + std::to_string(frame.n) +
                       " is not greater than that of the previous frame";
}

std::string RingFeed::readCaps(GstCaps *caps) {
  if (caps && caps == caps_) return {};
  gst_caps_replace(&caps_, nullptr);
  const RingShape &shape = ring_->shape();
  const auto &packing = ring_->picture();
  const char *expected = packing ? "video/x-raw" : "image/jpeg";
  if (!caps || !gst_structure_has_name(gst_caps_get_structure(caps, 0), expected) ||
      !gst_video_info_from_caps(&info_, caps)) {
    return std::string("it is not ") + expected;
  }
  bool fits = (!packing || GST_VIDEO_INFO_FORMAT(&info_) == packing->format()) &&
              GST_VIDEO_INFO_WIDTH(&info_) == static_cast<int>(shape.contentWidth) &&
              GST_VIDEO_INFO_HEIGHT(&info_) == static_cast<int>(shape.contentHeight);
  if (!fits) {
    return "it is " + std::to_string(GST_VIDEO_INFO_WIDTH(&info_)) + "x" +
           std::to_string(GST_VIDEO_INFO_HEIGHT(&info_)) + " " + GST_VIDEO_INFO_NAME(&info_) +
           " instead of " + std::to_string(shape.contentWidth) + "x" +
           std::to_string(shape.contentHeight) + " " + shape.format;
  }
  gst_caps_replace(&caps_, caps);
  return {};
}

void RingFeed::announce(const RingFrame &frame) {
  std::lock_guard lock(mutex_);
  newest_ = frame;
  if (announcing_) return;
  announcing_ = true;
  mailbox_->post([feed = std::static_pointer_cast<RingFeed>(shared_from_this())](Napi::Env env) {
    RingFrame newest;
    {
      std::lock_guard lock(feed->mutex_);
      newest = feed->newest_;
      feed->announcing_ = false;
    }
    Napi::Object object = Napi::Object::New(env);
    object.Set("n", static_cast<double>(newest.n));
    object.Set("pts", static_cast<double>(newest.pts));
    object.Set("timeUs", static_cast<double>(newest.timeUs));
    feed->mailbox_->call(env, feed->callback_, {object});
  });
}

void RingFeed::warnOnce(const std::string &reason) {
  if (warned_) return;
  warned_ = true;
  GST_ELEMENT_WARNING(
      appSink(), STREAM, FORMAT,
      ("A frame was not written to the ring %s: %s.", ring_->shape().path.c_str(), reason.c_str()),
      (nullptr));
}
