#pragma once

#include <gst/gst.h>

#include <memory>
#include <string>
#include <vector>

#include "graph.h"
#include "pending.h"

// A bin that is linked to a request pad of a tee. The methods run on the graph's thread.
class Branch : public std::enable_shared_from_this<Branch> {
 public:
  // Adds the bin to the pipeline, unlinked and in state null. Throws Napi::Error (a GstError) if
  // `launch` is invalid, std::invalid_argument if the branch has no sink pad.
  Branch(Napi::Env env, Graph &graph, const std::string &launch, const std::string &tee);
  ~Branch() { g_weak_ref_clear(&bin_); }

  std::optional<Failure> start();
  // Resolves `pending` once the bin is removed.
  void remove(std::shared_ptr<Pending> pending);

 private:
  enum class Phase { unlinked, linked, removing, removed };

  static GstPadProbeReturn onTeePad(GstPad *pad, GstPadProbeInfo *info, gpointer);
  static GstPadProbeReturn onIdle(GstPad *pad, GstPadProbeInfo *info, gpointer branch);
  Owned<GstElement> bin() {
    return Owned<GstElement>(static_cast<GstElement *>(g_weak_ref_get(&bin_)));
  }
  void stop();

  Graph &graph_;
  Owned<GstElement> tee_;
  // Only the parent owns the bin, which is destroyed with the pipeline or with the branch that
  // contains the tee.
  GWeakRef bin_;
  Owned<GstPad> entry_;
  Owned<GstPad> teePad_;
  Phase phase_ = Phase::unlinked;
  std::vector<std::shared_ptr<Pending>> removals_;
};
