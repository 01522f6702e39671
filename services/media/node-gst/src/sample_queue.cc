#include "sample_queue.h"

#include "sample.h"

SampleQueue::SampleQueue(GstElement *appSink, size_t capacity, WhenFull whenFull,
                         std::shared_ptr<Timeline> timeline, std::shared_ptr<Mailbox> mailbox,
                         uint32_t callback)
    : Tap(appSink),
      capacity_(capacity),
      whenFull_(whenFull),
      timeline_(std::move(timeline)),
      mailbox_(std::move(mailbox)),
      callback_(callback) {}

SampleQueue::~SampleQueue() {
  clear();
  gst_caps_replace(&deliveredCaps_, nullptr);
}

SampleQueue::Stats SampleQueue::stats() {
  std::lock_guard lock(mutex_);
  return {delivered_, dropped_};
}

void SampleQueue::receive(GstSample *sample) {
  std::unique_lock lock(mutex_);
  if (full() && !makeRoom(lock)) {
    dropped_++;
    gapBeforeNext_ = true;
    gst_sample_unref(sample);
    return;
  }
  waiting_.push_back({sample, gapBeforeNext_});
  gapBeforeNext_ = false;
  if (draining_) return;
  draining_ = true;
  mailbox_->post([queue = self()](Napi::Env env) { queue->drain(env); });
}

bool SampleQueue::makeRoom(std::unique_lock<std::mutex> &lock) {
  if (whenFull_ == WhenFull::dropNewest) return false;
  if (whenFull_ == WhenFull::block) {
    changed_.wait(lock, [this] { return idle() || !full(); });
    return !idle();
  }
  if (waiting_.empty()) return false;
  gst_sample_unref(waiting_.front().sample);
  waiting_.pop_front();
  dropped_++;
  if (waiting_.empty()) {
    gapBeforeNext_ = true;
  } else {
    waiting_.front().afterGap = true;
  }
  return true;
}

void SampleQueue::wake() {
  std::lock_guard lock(mutex_);
  changed_.notify_all();
}

void SampleQueue::clear() {
  std::lock_guard lock(mutex_);
  for (const Entry &entry : waiting_) gst_sample_unref(entry.sample);
  waiting_.clear();
}

void SampleQueue::drain(Napi::Env env) {
  std::unique_lock lock(mutex_);
  draining_ = false;
  // Delivers only the samples that are waiting now, so that a fast stream does not block the event
  // loop.
  for (size_t left = waiting_.size(); left > 0 && !waiting_.empty(); left--) {
    Entry entry = waiting_.front();
    waiting_.pop_front();
    held_++;
    delivered_++;
    lock.unlock();
    deliver(env, entry);
    lock.lock();
  }
  if (waiting_.empty() || draining_) return;
  draining_ = true;
  mailbox_->post([queue = self()](Napi::Env next) { queue->drain(next); });
}

void SampleQueue::deliver(Napi::Env env, Entry entry) {
  Napi::HandleScope scope(env);
  GstSample *sample = entry.sample;
  Stamp stamp = timeline_->stamp(*gst_sample_get_segment(sample), gst_sample_get_buffer(sample));
  GstCaps *caps = gst_sample_get_caps(sample);
  bool changed = caps && !(deliveredCaps_ && gst_caps_is_equal(caps, deliveredCaps_));
  if (changed) gst_caps_replace(&deliveredCaps_, caps);
  auto held = std::make_shared<HeldSample>(sample, [queue = self()] { queue->onRelease(); });
  Napi::Object object = Sample::make(env, std::move(held), stamp, changed ? caps : nullptr);
  if (entry.afterGap) object.Set("discont", true);
  mailbox_->call(env, callback_, {object});
}

void SampleQueue::onRelease() {
  std::lock_guard lock(mutex_);
  held_--;
  changed_.notify_all();
}
