#include "branch.h"

#include <stdexcept>

#include "allocation.h"

// Creates the sink pad of the branch from that of its first element, which is the last child of the
// bin: a bin lists its children in reverse order. A search for any unlinked pad would also find
// elements that wait for dynamic pads, such as those of decodebin3. Returns null if the first
// element has no unlinked sink pad.
static GstPad *createSinkPad(GstBin *bin) {
  auto *first = static_cast<GstElement *>(g_list_last(GST_BIN_CHILDREN(bin))->data);
  Owned<GstPad> target(gst_element_get_static_pad(first, "sink"));
  if (!target || gst_pad_is_linked(target.get())) return nullptr;
  GstPad *entry = gst_ghost_pad_new("sink", target.get());
  gst_element_add_pad(GST_ELEMENT(bin), entry);
  return static_cast<GstPad *>(gst_object_ref(entry));
}

// A tee that has passed the end of its stream pushes nothing more, so a pad that was linked
// afterwards keeps the end to itself. Any serialized event makes the pad push the sticky events
// that it has not pushed yet, which include the end.
static void pushMissedEnd(GstPad *teePad) {
  GstEvent *end = gst_pad_get_sticky_event(teePad, GST_EVENT_EOS, 0);
  if (!end) return;
  gst_event_unref(end);
  gst_pad_push_event(teePad, gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM,
                                                  gst_structure_new_empty("missed-end")));
}

// The parent is not stored, because it may be the pipeline, which must not outlive its disposal.
static Owned<GstElement> getParent(GstElement *element) {
  return Owned<GstElement>(GST_ELEMENT(gst_object_get_parent(GST_OBJECT(element))));
}

Branch::Branch(Napi::Env env, Graph &graph, const std::string &launch, const std::string &tee)
    : graph_(graph), tee_(graph.find(tee)) {
  g_weak_ref_init(&bin_, nullptr);
  GError *error = nullptr;
  GstElement *bin = gst_parse_bin_from_description_full(launch.c_str(), FALSE, nullptr,
                                                        GST_PARSE_FLAG_FATAL_ERRORS, &error);
  if (!bin) throw Failure::fromError(error).toJs(env);
  Owned<GstElement> owned(GST_ELEMENT(gst_object_ref_sink(bin)));
  entry_.reset(createSinkPad(GST_BIN(bin)));
  if (!entry_) {
    throw std::invalid_argument("the first element of the branch has no unlinked sink pad: " +
                                launch);
  }
  gst_element_set_locked_state(bin, TRUE);
  // The branch must be in the same bin as the tee, which may itself be in a branch: only pads
  // within one bin can be linked.
  gst_bin_add(GST_BIN(getParent(tee_.get()).get()), bin);
  g_weak_ref_set(&bin_, bin);
}

std::optional<Failure> Branch::start() {
  if (phase_ == Phase::linked) return std::nullopt;
  auto bin = this->bin();
  if (phase_ != Phase::unlinked || !bin) {
    return Failure::of(GST_CORE_ERROR_FAILED, "the branch has been removed");
  }
  teePad_.reset(gst_element_request_pad_simple(tee_.get(), "src_%u"));
  if (!teePad_) {
    return Failure::of(GST_CORE_ERROR_PAD,
                       std::string(GST_OBJECT_NAME(tee_.get())) + " is not a tee");
  }
  phase_ = Phase::linked;
  // Without this, the removal of the last branch would stop the source.
  g_object_set(tee_.get(), "allow-not-linked", TRUE, nullptr);
  auto types = static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_EVENT_UPSTREAM |
                                            GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM);
  gst_pad_add_probe(teePad_.get(), types, onTeePad, nullptr, nullptr);

  GstElement *pipeline = graph_.pipeline();
  // A bin that is added to a running pipeline must preroll by itself, without setting the pipeline
  // back to PAUSED.
  g_object_set(bin.get(), "async-handling",
               GST_STATE(getParent(bin.get()).get()) >= GST_STATE_PAUSED, nullptr);
  gst_element_set_base_time(bin.get(), gst_element_get_base_time(pipeline));
  gst_element_set_start_time(bin.get(), gst_element_get_start_time(pipeline));
  gst_element_set_locked_state(bin.get(), FALSE);
  bool started = gst_element_sync_state_with_parent(bin.get());
  auto checks =
      static_cast<GstPadLinkCheck>(GST_PAD_LINK_CHECK_DEFAULT | GST_PAD_LINK_CHECK_NO_RECONFIGURE);
  if (gst_pad_link_full(teePad_.get(), entry_.get(), checks) != GST_PAD_LINK_OK) {
    return Failure::of(GST_CORE_ERROR_NEGOTIATION,
                       "the branch does not accept the format of the tee");
  }
  if (!started) {
    return Failure::of(GST_CORE_ERROR_STATE_CHANGE, "an element of the branch failed to start");
  }
  pushMissedEnd(teePad_.get());
  return std::nullopt;
}

GstPadProbeReturn Branch::onTeePad(GstPad *, GstPadProbeInfo *info, gpointer) {
  if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM) {
    return answerAllocation(GST_PAD_PROBE_INFO_QUERY(info));
  }
  bool reconfigure = GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_RECONFIGURE;
  return reconfigure ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
}

void Branch::remove(std::shared_ptr<Pending> pending) {
  if (phase_ == Phase::removed) return pending->resolve(std::nullopt);
  removals_.push_back(std::move(pending));
  if (phase_ == Phase::removing) return;
  if (auto bin = this->bin()) graph_.taps().closeIn(bin.get());
  if (phase_ == Phase::unlinked) return stop();
  phase_ = Phase::removing;
  gst_pad_add_probe(teePad_.get(), GST_PAD_PROBE_TYPE_IDLE, onIdle,
                    new std::shared_ptr<Branch>(shared_from_this()),
                    [](gpointer data) { delete static_cast<std::shared_ptr<Branch> *>(data); });
}

// Runs on the thread that finds the pad idle. This may be the streaming thread, so the branch is
// stopped by another thread.
GstPadProbeReturn Branch::onIdle(GstPad *pad, GstPadProbeInfo *, gpointer data) {
  auto branch = *static_cast<std::shared_ptr<Branch> *>(data);
  gst_pad_unlink(pad, branch->entry_.get());
  branch->graph_.control().post([branch] { branch->stop(); });
  return GST_PAD_PROBE_REMOVE;
}

void Branch::stop() {
  if (teePad_) gst_element_release_request_pad(tee_.get(), teePad_.get());
  if (auto bin = this->bin()) {
    gst_element_set_locked_state(bin.get(), TRUE);
    gst_element_set_state(bin.get(), GST_STATE_NULL);
    graph_.taps().detachIn(bin.get());
    if (auto parent = getParent(bin.get())) gst_bin_remove(GST_BIN(parent.get()), bin.get());
  }
  phase_ = Phase::removed;
  for (const auto &pending : removals_) pending->resolve(std::nullopt);
  removals_.clear();
}
