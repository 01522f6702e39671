#pragma once

#include <gst/gst.h>

#include <memory>
#include <mutex>
#include <optional>

#include "executor.h"
#include "mailbox.h"
#include "pending.h"
#include "tap.h"

// Changes the state of a pipeline on the pipeline's own thread. A new request supersedes the
// current one.
class StateChange {
 public:
  StateChange(GstElement *pipeline, std::shared_ptr<Mailbox> mailbox, Executor &control,
              Taps &taps);

  // Must be called on the JavaScript thread. `afterwards` runs on the JavaScript thread when the
  // state is reached. The mailbox is held from the request for a state above null until null is
  // reached.
  void request(
      GstState target, std::shared_ptr<Pending> pending, std::function<void()> afterwards = [] {});
  // Drops all requests. Their promises neither resolve nor reject.
  void abandon();
  // Called for every bus message, on the thread that posts it.
  void onMessage(GstMessage *message);

 private:
  struct Request {
    GstState target;
    std::shared_ptr<Pending> pending;
    std::function<void()> afterwards;
    bool begun = false;
    bool waiting = false;
    bool reached = false;
    bool finished = false;
    std::optional<Failure> failure;
  };

  void perform(const std::shared_ptr<Request> &request);
  // Must be called with the mutex held.
  void finish(Request &request, std::optional<Failure> failure);

  GstElement *const pipeline_;
  const std::shared_ptr<Mailbox> mailbox_;
  Executor &control_;
  Taps &taps_;
  int holds_ = 0;

  std::mutex mutex_;
  std::shared_ptr<Request> current_;
};
