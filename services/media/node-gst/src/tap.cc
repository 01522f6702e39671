#include "tap.h"

#include <stdexcept>
#include <string>

#include "allocation.h"

using SharedTap = std::shared_ptr<Tap>;

static void destroy(gpointer tap) { delete static_cast<SharedTap *>(tap); }

Tap::Tap(GstElement *appSink) {
  if (!GST_IS_APP_SINK(appSink)) {
    throw std::invalid_argument(std::string("element \"") + GST_OBJECT_NAME(appSink) +
                                "\" is not an appsink");
  }
  appSink_.reset(GST_ELEMENT(gst_object_ref(appSink)));
}

void Tap::open() {
  // A retained last sample would occupy a buffer of the pool while the stream is paused.
  g_object_set(appSink(), "enable-last-sample", FALSE, nullptr);
  Owned<GstPad> pad(gst_element_get_static_pad(appSink(), "sink"));
  auto types = static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_EVENT_FLUSH |
                                            GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM);
  probe_ = gst_pad_add_probe(pad.get(), types, onPad, new SharedTap(shared_from_this()), destroy);
  GstAppSinkCallbacks callbacks = {};
  callbacks.new_sample = onSample;
  gst_app_sink_set_callbacks(GST_APP_SINK(appSink()), &callbacks, new SharedTap(shared_from_this()),
                             destroy);
}

void Tap::close() {
  closed_ = true;
  wake();
  std::lock_guard lock(receiving_);
  clear();
}

void Tap::detach() {
  if (probe_ == 0) return;
  Owned<GstPad> pad(gst_element_get_static_pad(appSink(), "sink"));
  gst_pad_remove_probe(pad.get(), probe_);
  probe_ = 0;
  GstAppSinkCallbacks none = {};
  gst_app_sink_set_callbacks(GST_APP_SINK(appSink()), &none, nullptr, nullptr);
  // The appsink refers to its last buffer, and the buffer to its pool.
  appSink_.reset();
}

void Tap::setStopped(bool stopped) {
  stopped_ = stopped;
  if (stopped) wake();
}

GstFlowReturn Tap::onSample(GstAppSink *appSink, gpointer data) {
  Tap &tap = **static_cast<SharedTap *>(data);
  GstSample *sample = gst_app_sink_pull_sample(appSink);
  if (!sample) return GST_FLOW_OK;
  std::lock_guard lock(tap.receiving_);
  if (tap.idle()) {
    gst_sample_unref(sample);
  } else {
    tap.receive(sample);
  }
  return GST_FLOW_OK;
}

GstPadProbeReturn Tap::onPad(GstPad *, GstPadProbeInfo *info, gpointer data) {
  Tap &tap = **static_cast<SharedTap *>(data);
  if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM) {
    return tap.usesVideoMeta() ? answerAllocation(GST_PAD_PROBE_INFO_QUERY(info))
                               : GST_PAD_PROBE_OK;
  }
  if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_FLUSH_START) {
    tap.flushing_ = true;
    tap.wake();
  } else {
    tap.clear();
    tap.flushing_ = false;
  }
  return GST_PAD_PROBE_OK;
}

void Taps::add(const SharedTap &tap) {
  for (const auto &other : all()) {
    if (other->closed() || other->appSink() != tap->appSink()) continue;
    throw std::logic_error(std::string("appsink \"") + GST_OBJECT_NAME(tap->appSink()) +
                           "\" already has a reader: close it first");
  }
  std::lock_guard lock(mutex_);
  taps_.push_back(tap);
}

void Taps::setStopped(bool stopped) {
  for (const auto &tap : all()) tap->setStopped(stopped);
}

void Taps::closeIn(GstElement *bin) {
  for (const auto &tap : in(bin)) tap->close();
}

void Taps::detachIn(GstElement *bin) {
  for (const auto &tap : in(bin)) tap->detach();
}

std::vector<SharedTap> Taps::in(GstElement *bin) {
  std::vector<SharedTap> inside;
  for (const auto &tap : all()) {
    if (gst_object_has_as_ancestor(GST_OBJECT(tap->appSink()), GST_OBJECT(bin))) {
      inside.push_back(tap);
    }
  }
  return inside;
}

std::vector<SharedTap> Taps::all() {
  std::lock_guard lock(mutex_);
  std::vector<SharedTap> alive;
  for (const auto &entry : taps_) {
    SharedTap tap = entry.lock();
    if (tap && tap->appSink()) alive.push_back(std::move(tap));
  }
  taps_.assign(alive.begin(), alive.end());
  return alive;
}
