#include "pipeline.h"

#include <gst/video/video.h>

#include <stdexcept>

#include "app_src.h"
#include "handles.h"
#include "options.h"
#include "property.h"
#include "query.h"
#include "redirect_guard.h"
#include "ring.h"
#include "rtp_packet.h"
#include "state.h"
#include "time_filler.h"
#include "value.h"

static constexpr double kMinInteger = -9007199254740991.0;

Napi::Function Pipeline::define(Napi::Env env) {
  return DefineClass(env, "Pipeline",
                     {
                         InstanceMethod<&Pipeline::setState>("setState"),
                         InstanceMethod<&Pipeline::setTimeline>("setTimeline"),
                         InstanceMethod<&Pipeline::realign>("realign"),
                         InstanceMethod<&Pipeline::samples>("samples"),
                         InstanceMethod<&Pipeline::toRing>("toRing"),
                         InstanceMethod<&Pipeline::number>("number"),
                         InstanceMethod<&Pipeline::fillTimes>("fillTimes"),
                         InstanceMethod<&Pipeline::push>("push"),
                         InstanceMethod<&Pipeline::endOfStream>("endOfStream"),
                         InstanceMethod<&Pipeline::get>("get"),
                         InstanceMethod<&Pipeline::set>("set"),
                         InstanceMethod<&Pipeline::caps>("caps"),
                         InstanceMethod<&Pipeline::newestRtpPacket>("newestRtpPacket"),
                         InstanceMethod<&Pipeline::sendEos>("sendEos"),
                         InstanceMethod<&Pipeline::seek>("seek"),
                         InstanceMethod<&Pipeline::forceKeyUnit>("forceKeyUnit"),
                         InstanceMethod<&Pipeline::ask<queryPosition>>("position"),
                         InstanceMethod<&Pipeline::ask<queryDuration>>("duration"),
                         InstanceMethod<&Pipeline::ask<queryLatency>>("latency"),
                         InstanceMethod<&Pipeline::ask<queryRunningTime>>("runningTime"),
                         InstanceMethod<&Pipeline::add>("add"),
                         InstanceMethod<&Pipeline::dispose>("dispose"),
                     });
}

static GstElement *parse(Napi::Env env, const std::string &launch) {
  GError *error = nullptr;
  GstElement *parsed =
      gst_parse_launch_full(launch.c_str(), nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  if (!parsed) throw Failure::fromError(error).toJs(env);
  gst_object_ref_sink(parsed);
  if (GST_IS_PIPELINE(parsed)) return parsed;
  // A launch string with a single element returns that element.
  GstElement *pipeline = GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr)));
  gst_bin_add(GST_BIN(pipeline), parsed);
  gst_object_unref(parsed);
  return pipeline;
}

Pipeline::Pipeline(const Napi::CallbackInfo &info) : ObjectWrap(info) {
  Napi::Function onMessage = function(info[1], "onMessage");
  GstElement *pipeline = parse(info.Env(), text(info[0], "launch"));
  guardRedirects(GST_BIN(pipeline));
  recordRtpPackets(GST_BIN(pipeline));
  graph_ = std::make_shared<Graph>(info.Env(), info.This().As<Napi::Object>(), pipeline, onMessage);
}

Graph &Pipeline::graph() const {
  if (disposed_) throw std::logic_error("the pipeline has been disposed of");
  return *graph_;
}

Owned<GstElement> Pipeline::element(const Napi::CallbackInfo &info) const {
  return graph().find(text(info[0], "element"));
}

Napi::Value Pipeline::setState(const Napi::CallbackInfo &info) {
  auto state = parseState(text(info[0], "state"));
  if (!state) {
    throw Napi::TypeError::New(info.Env(), "state must be null, ready, paused or playing");
  }
  StateChange &change = graph().state();
  auto pending = Pending::begin(info.Env(), graph_->mailbox());
  change.request(*state, pending);
  return pending->promise();
}

void Pipeline::setTimeline(const Napi::CallbackInfo &info) {
  Napi::Object options = object(info[0], "timeline");
  if (auto ticks = parseOptionalInteger(options, "ptsOffset", kMinInteger)) {
    graph().timeline()->setPtsOffset(*ticks);
  }
  if (auto us = parseOptionalInteger(options, "timeAnchorUs", kMinInteger)) {
    graph().timeline()->setTimeAnchor(*us);
  }
}

void Pipeline::realign(const Napi::CallbackInfo &info) {
  if (!info[0].IsNumber()) throw Napi::TypeError::New(info.Env(), "ptsOffset must be an integer");
  graph().timeline()->realign(info[0].As<Napi::Number>().Int64Value());
}

static WhenFull parseWhenFull(const Napi::Value &value) {
  std::string name = text(value, "full");
  if (name == "drop-oldest") return WhenFull::dropOldest;
  if (name == "drop-newest") return WhenFull::dropNewest;
  if (name == "block") return WhenFull::block;
  throw Napi::TypeError::New(value.Env(), "full must be drop-oldest, drop-newest or block");
}

Napi::Value Pipeline::samples(const Napi::CallbackInfo &info) {
  Napi::Object options = object(info[1], "options");
  Napi::Function onSample = function(info[2], "onSample");
  size_t capacity = parseIntegerOption(options, "queue", 1);
  WhenFull whenFull = parseWhenFull(options.Get("full"));
  uint32_t callback = graph().mailbox()->addCallback(onSample);
  auto queue = std::make_shared<SampleQueue>(element(info).get(), capacity, whenFull,
                                             graph().timeline(), graph().mailbox(), callback);
  graph().taps().add(queue);
  queue->open();
  return makeHandle(info.Env(), queue, graph().mailbox(), callback);
}

Napi::Value Pipeline::toRing(const Napi::CallbackInfo &info) {
  std::shared_ptr<RingFile> ring = Ring::unwrapFile(info[1]);
  uint32_t callback = graph().mailbox()->addCallback(function(info[2], "onFrame"));
  auto feed = std::make_shared<RingFeed>(element(info).get(), ring, graph().timeline(),
                                         graph().mailbox(), callback);
  graph().taps().add(feed);
  feed->open();
  return makeHandle(info.Env(), feed, graph().mailbox(), callback);
}

Napi::Value Pipeline::number(const Napi::CallbackInfo &info) {
  Napi::Object options =
      info[2].IsUndefined() ? Napi::Object::New(info.Env()) : object(info[2], "options");
  auto pad = graph().findPad(text(info[0], "element"), text(info[1], "pad"));
  auto numbering = std::make_shared<Numbering>(
      graph().timeline(), parseOptionalInteger(options, "start", 1).value_or(1),
      parseRate(options.Get("rate")));
  numbering->watch(pad.get());
  return makeHandle(info.Env(), numbering);
}

void Pipeline::fillTimes(const Napi::CallbackInfo &info) {
  ::fillTimes(graph().findPad(text(info[0], "element"), text(info[1], "pad")).get());
}

Napi::Value Pipeline::push(const Napi::CallbackInfo &info) {
  if (!info[1].IsTypedArray()) throw Napi::TypeError::New(info.Env(), "data must be a Uint8Array");
  auto data = info[1].As<Napi::Uint8Array>();
  Napi::Object options =
      info[2].IsUndefined() ? Napi::Object::New(info.Env()) : object(info[2], "options");
  auto time = [&](const char *name) -> GstClockTime {
    return parseOptionalInteger(options, name, 0)
        .value_or(static_cast<int64_t>(GST_CLOCK_TIME_NONE));
  };
  uint64_t waiting =
      ::push(element(info).get(), data.Data(), data.ByteLength(), time("ptsNs"), time("dtsNs"),
             time("durationNs"), parseFlagOption(options, "decodeOnly"));
  return Napi::Number::New(info.Env(), static_cast<double>(waiting));
}

void Pipeline::endOfStream(const Napi::CallbackInfo &info) { ::endOfStream(element(info).get()); }

Napi::Value Pipeline::get(const Napi::CallbackInfo &info) {
  return getProperty(info.Env(), element(info).get(), text(info[1], "property"));
}

void Pipeline::set(const Napi::CallbackInfo &info) {
  setProperty(element(info).get(), text(info[1], "property"), info[2].ToString());
}

Napi::Value Pipeline::caps(const Napi::CallbackInfo &info) {
  auto pad = graph().findPad(text(info[0], "element"), text(info[1], "pad"));
  GstCaps *caps = gst_pad_get_current_caps(pad.get());
  if (!caps) return info.Env().Null();
  Napi::Object object = capsToJs(info.Env(), caps);
  gst_caps_unref(caps);
  return object;
}

Napi::Value Pipeline::newestRtpPacket(const Napi::CallbackInfo &info) {
  std::string name = text(info[0], "depayloader");
  Owned<GstElement> depayloader(gst_bin_get_by_name(GST_BIN(graph().pipeline()), name.c_str()));
  auto packet = depayloader ? ::newestRtpPacket(depayloader.get()) : std::nullopt;
  if (!packet) return info.Env().Null();
  Napi::Object object = Napi::Object::New(info.Env());
  object.Set("timestamp", packet->timestamp);
  object.Set("runningTicks", static_cast<double>(packet->runningTicks));
  object.Set("clockRate", packet->clockRate);
  return object;
}

Napi::Value Pipeline::sendEos(const Napi::CallbackInfo &info) {
  GstElement *pipeline = graph().pipeline();
  return graph().runAsync(info.Env(), [pipeline]() -> std::optional<Failure> {
    if (gst_element_send_event(pipeline, gst_event_new_eos())) return std::nullopt;
    return Failure::of(GST_CORE_ERROR_EVENT,
                       "no element accepted the end of stream: the pipeline is not running");
  });
}

Napi::Value Pipeline::seek(const Napi::CallbackInfo &info) {
  Napi::Object options = object(info[0], "options");
  int flags = GST_SEEK_FLAG_NONE;
  if (parseFlagOption(options, "flush")) flags |= GST_SEEK_FLAG_FLUSH;
  if (parseFlagOption(options, "keyUnit")) {
    flags |= GST_SEEK_FLAG_KEY_UNIT | GST_SEEK_FLAG_SNAP_BEFORE;
  }
  gint64 to = parseIntegerOption(options, "toNs", 0);
  GstElement *pipeline = graph().pipeline();
  return graph().runAsync(info.Env(), [=]() -> std::optional<Failure> {
    if (gst_element_seek_simple(pipeline, GST_FORMAT_TIME, static_cast<GstSeekFlags>(flags), to)) {
      return std::nullopt;
    }
    return Failure::of(GST_CORE_ERROR_SEEK,
                       "no element of the pipeline can seek to this position now");
  });
}

Napi::Value Pipeline::forceKeyUnit(const Napi::CallbackInfo &info) {
  GstEvent *event = gst_video_event_new_upstream_force_key_unit(GST_CLOCK_TIME_NONE, TRUE, 0);
  return Napi::Boolean::New(info.Env(), gst_element_send_event(element(info).get(), event));
}

Napi::Value Pipeline::add(const Napi::CallbackInfo &info) {
  Graph &graph = this->graph();
  auto branch =
      std::make_shared<Branch>(info.Env(), graph, text(info[0], "launch"), text(info[1], "tee"));
  return makeHandle(info.Env(), branch, graph_);
}

Napi::Value Pipeline::dispose(const Napi::CallbackInfo &info) {
  Napi::Object self = info.This().As<Napi::Object>();
  if (disposed_) return self.Get("disposal");
  disposed_ = true;
  auto pending = Pending::begin(info.Env(), graph_->mailbox());
  self.DefineProperty(
      Napi::PropertyDescriptor::Value("disposal", pending->promise(), napi_default));
  graph_->state().request(GST_STATE_NULL, pending, [graph = graph_] { graph->shutDown(); });
  return pending->promise();
}
