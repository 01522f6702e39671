#pragma once

#include <gst/gst.h>

#include <memory>
#include <mutex>
#include <optional>

#include "executor.h"
#include "mailbox.h"
#include "pending.h"
#include "tap.h"

// Takes a pipeline from state to state on its own thread. A new request overtakes the one under way.
class StateChange {
 public:
  StateChange(GstElement *pipeline, std::shared_ptr<Mailbox> mailbox, Executor &control, Taps &taps);

  // On the JavaScript thread. From the request for a state above null until null is reached the mailbox is held.
  // `afterwards` runs there when the state is reached.
  void request(GstState target, std::shared_ptr<Pending> pending, std::function<void()> afterwards = [] {});
  // What is under way settles no more, and what has not begun never does.
  void abandon();
  // Of every bus message, on the thread that posts it.
  void notice(GstMessage *message);

 private:
  struct Request {
    GstState target;
    std::shared_ptr<Pending> pending;
    std::function<void()> afterwards;
    bool begun = false;
    bool waiting = false;
    bool reached = false;
    bool settled = false;
    std::optional<Failure> failure;
  };

  void perform(const std::shared_ptr<Request> &request);
  // With the mutex held.
  void settle(Request &request, std::optional<Failure> failure);

  GstElement *const pipeline_;
  const std::shared_ptr<Mailbox> mailbox_;
  Executor &control_;
  Taps &taps_;
  int holds_ = 0;

  std::mutex mutex_;
  std::shared_ptr<Request> current_;
};
