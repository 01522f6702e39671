#pragma once

#include <gst/gst.h>

#include <memory>
#include <string>
#include <vector>

#include "graph.h"
#include "pending.h"

// A bin on a request pad of a tee. What it does, it does on the graph's own thread.
class Branch : public std::enable_shared_from_this<Branch> {
 public:
  // Adds the bin to the pipeline, not yet linked and locked in state null. Throws Napi::Error (a GstError) when
  // `launch` is wrong, std::invalid_argument when it cannot hang on a tee.
  Branch(Napi::Env env, Graph &graph, const std::string &launch, const std::string &tee);
  ~Branch() { g_weak_ref_clear(&bin_); }

  std::optional<Failure> start();
  // Settles `pending` once the bin is gone.
  void remove(std::shared_ptr<Pending> pending);

 private:
  enum class Phase { apart, joined, leaving, gone };

  static GstPadProbeReturn onTeePad(GstPad *pad, GstPadProbeInfo *info, gpointer);
  static GstPadProbeReturn onIdle(GstPad *pad, GstPadProbeInfo *info, gpointer branch);
  Owned<GstElement> bin() { return Owned<GstElement>(static_cast<GstElement *>(g_weak_ref_get(&bin_))); }
  void takeDown();

  Graph &graph_;
  Owned<GstElement> tee_;
  // Kept by its parent alone: it goes with the pipeline, or with the branch that its tee stands in.
  GWeakRef bin_;
  Owned<GstPad> entry_;
  Owned<GstPad> teePad_;
  Phase phase_ = Phase::apart;
  std::vector<std::shared_ptr<Pending>> awaiting_;
};
