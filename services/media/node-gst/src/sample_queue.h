#pragma once

#include <gst/gst.h>

#include <condition_variable>
#include <deque>

#include "mailbox.h"
#include "tap.h"
#include "timeline.h"

enum class WhenFull { dropOldest, dropNewest, block };

// A bounded queue from an appsink to a JavaScript callback.
class SampleQueue : public Tap {
 public:
  SampleQueue(GstElement *appSink, size_t capacity, WhenFull whenFull,
              std::shared_ptr<Timeline> timeline, std::shared_ptr<Mailbox> mailbox,
              uint32_t callback);
  ~SampleQueue() override;

  struct Stats {
    uint64_t delivered;
    uint64_t dropped;
  };
  Stats stats();

 protected:
  void receive(GstSample *sample) override;
  void wake() override;
  void clear() override;

 private:
  struct Entry {
    GstSample *sample;
    bool afterGap;
  };

  std::shared_ptr<SampleQueue> self() {
    return std::static_pointer_cast<SampleQueue>(shared_from_this());
  }
  bool full() const { return waiting_.size() + held_ >= capacity_; }
  // Returns whether there is room for the new sample, after dropping or waiting as configured.
  bool makeRoom(std::unique_lock<std::mutex> &lock);
  void drain(Napi::Env env);
  void deliver(Napi::Env env, Entry entry);
  void onRelease();

  const size_t capacity_;
  const WhenFull whenFull_;
  const std::shared_ptr<Timeline> timeline_;
  const std::shared_ptr<Mailbox> mailbox_;
  const uint32_t callback_;
  GstCaps *deliveredCaps_ = nullptr;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> waiting_;
  bool gapBeforeNext_ = false;
  size_t held_ = 0;
  bool draining_ = false;
  uint64_t delivered_ = 0;
  uint64_t dropped_ = 0;
};
