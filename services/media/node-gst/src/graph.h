#pragma once

#include <gst/gst.h>
#include <napi.h>

#include <memory>
#include <string>

#include "executor.h"
#include "mailbox.h"
#include "owned.h"
#include "pending.h"
#include "state_change.h"
#include "tap.h"
#include "timeline.h"

// The GStreamer pipeline of a JavaScript `Pipeline`. Owned by the JavaScript thread. Other threads
// that use the graph end before it is destroyed.
class Graph {
 public:
  // Takes ownership of `pipeline`, a GstPipeline.
  Graph(Napi::Env env, Napi::Object owner, GstElement *pipeline, Napi::Function onMessage);
  ~Graph();
  Graph(const Graph &) = delete;

  // Null after `shutDown`.
  GstElement *pipeline() const { return pipeline_.get(); }
  const std::shared_ptr<Mailbox> &mailbox() const { return mailbox_; }
  const std::shared_ptr<Timeline> &timeline() const { return timeline_; }
  Executor &control() { return control_; }
  StateChange &state() { return state_; }
  Taps &taps() { return taps_; }

  // Throws std::invalid_argument if no element has this name.
  Owned<GstElement> find(const std::string &name) const;
  // Throws std::invalid_argument if the element or its pad does not exist.
  Owned<GstPad> findPad(const std::string &element, const std::string &pad) const;

  // Runs `work` on the pipeline's thread. Returns a promise of the result.
  Napi::Value runAsync(Napi::Env env, std::function<std::optional<Failure>()> work);

  // Stops the pipeline and its thread, waits for both, and releases the pipeline. May be called
  // repeatedly.
  void shutDown();

 private:
  static GstBusSyncReply onBus(GstBus *bus, GstMessage *message, gpointer graph);
  static void onEnvironmentExit(void *graph);

  const napi_env env_;
  Owned<GstElement> pipeline_;
  const std::shared_ptr<Mailbox> mailbox_;
  const uint32_t onMessage_;
  const std::shared_ptr<Timeline> timeline_;
  Taps taps_;
  Executor control_;
  StateChange state_;
};
