#pragma once

#include <gst/app/gstappsink.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "owned.h"

// Takes what an appsink receives, on the streaming thread.
//
// A tap never fails the stream: while it is closed, while the pipeline goes down and while it is flushed, it
// throws away what comes, so that a branch on its way out does not stop the elements above the tee.
class Tap : public std::enable_shared_from_this<Tap> {
 public:
  explicit Tap(GstElement *appSink);
  virtual ~Tap() = default;

  // Starts taking. Once only.
  void open();
  // Nothing is taken any more once this has returned. From any thread.
  void close();
  // While the pipeline goes down, or is down.
  void setStopped(bool stopped);
  // Appsink and tap hold each other: parts them, once the appsink is down.
  void detach();

  // Null once detached.
  GstElement *appSink() const { return appSink_.get(); }
  bool closed() const { return closed_; }

 protected:
  // Takes over `sample`. May wait as long as `idle` is false.
  virtual void take(GstSample *sample) = 0;
  // `idle` has become true: let whoever waits in `take` look again.
  virtual void wake() = 0;
  // Throw away what waits.
  virtual void clear() {}
  // Whether this tap reads pictures by their GstVideoMeta.
  virtual bool takesVideoMeta() const { return false; }

  bool idle() const { return closed_ || stopped_ || flushing_; }

 private:
  static GstFlowReturn onSample(GstAppSink *appSink, gpointer tap);
  static GstPadProbeReturn onPad(GstPad *pad, GstPadProbeInfo *info, gpointer tap);

  Owned<GstElement> appSink_;
  gulong probe_ = 0;
  std::mutex taking_;
  std::atomic<bool> closed_ = false;
  std::atomic<bool> stopped_ = false;
  std::atomic<bool> flushing_ = false;
};

// All taps of a pipeline.
class Taps {
 public:
  // Throws std::logic_error when the tap's appsink has a taker already.
  void add(const std::shared_ptr<Tap> &tap);
  void setStopped(bool stopped);
  // Of the appsinks inside `bin`.
  void closeIn(GstElement *bin);
  // The same, once `bin` is down.
  void detachIn(GstElement *bin);

 private:
  std::vector<std::shared_ptr<Tap>> all();
  std::vector<std::shared_ptr<Tap>> in(GstElement *bin);

  std::mutex mutex_;
  std::vector<std::weak_ptr<Tap>> taps_;
};
