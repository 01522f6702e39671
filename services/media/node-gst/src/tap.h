#pragma once

#include <gst/app/gstappsink.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "owned.h"

// Receives the samples of an appsink on the streaming thread.
//
// While a tap is closed or flushing, or the pipeline stops, the tap discards samples without an
// error. An error would stop the elements upstream of the tee when a branch is removed.
class Tap : public std::enable_shared_from_this<Tap> {
 public:
  explicit Tap(GstElement *appSink);
  virtual ~Tap() = default;

  // Starts receiving. Must be called only once.
  void open();
  // No sample is received after this returns. May be called from any thread.
  void close();
  // Must be called when the pipeline stops and when it starts again.
  void setStopped(bool stopped);
  // Releases the appsink, which refers back to the tap. The appsink must have been stopped.
  void detach();

  // Null after `detach`.
  GstElement *appSink() const { return appSink_.get(); }
  bool closed() const { return closed_; }

 protected:
  // Takes ownership of `sample`. May wait while `idle` is false.
  virtual void receive(GstSample *sample) = 0;
  // Called when `idle` may have become true. Must wake a thread that waits in `receive`.
  virtual void wake() = 0;
  // Discards waiting samples.
  virtual void clear() {}
  // Returns whether this tap reads pictures by their GstVideoMeta.
  virtual bool usesVideoMeta() const { return false; }

  bool idle() const { return closed_ || stopped_ || flushing_; }

 private:
  static GstFlowReturn onSample(GstAppSink *appSink, gpointer tap);
  static GstPadProbeReturn onPad(GstPad *pad, GstPadProbeInfo *info, gpointer tap);

  Owned<GstElement> appSink_;
  gulong probe_ = 0;
  std::mutex receiving_;
  std::atomic<bool> closed_ = false;
  std::atomic<bool> stopped_ = false;
  std::atomic<bool> flushing_ = false;
};

// All taps of a pipeline.
class Taps {
 public:
  // Throws std::logic_error if the tap's appsink already has an open tap.
  void add(const std::shared_ptr<Tap> &tap);
  void setStopped(bool stopped);
  // Closes the taps of the appsinks in `bin`.
  void closeIn(GstElement *bin);
  // Detaches the taps of the appsinks in `bin`, which must have been stopped.
  void detachIn(GstElement *bin);

 private:
  std::vector<std::shared_ptr<Tap>> all();
  std::vector<std::shared_ptr<Tap>> in(GstElement *bin);

  std::mutex mutex_;
  std::vector<std::weak_ptr<Tap>> taps_;
};
