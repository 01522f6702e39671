#include "addon.h"

#include <gst/gst.h>

#include "options.h"
#include "owned.h"
#include "pipeline.h"
#include "ring.h"
#include "sample.h"

// A manifest is a list of URLs, which these elements would request from any server. A description
// of sessions (SDP) makes its element receive from any address. Without a rank, no element is
// chosen for them automatically.
static void refuseManifests() {
  static constexpr const char *kElements[] = {"hlsdemux", "hlsdemux2", "dashdemux", "dashdemux2",
                                              "mssdemux", "mssdemux2", "sdpdemux"};
  for (const char *name : kElements) {
    GstPluginFeature *feature = gst_registry_lookup_feature(gst_registry_get(), name);
    if (!feature) continue;
    gst_plugin_feature_set_rank(feature, GST_RANK_NONE);
    gst_object_unref(feature);
  }
}

// Loading a plugin registers its elements for the present hardware, even if the registry does not
// contain them.
static Napi::Value loadPlugin(const Napi::CallbackInfo &info) {
  std::string name = text(info[0], "plugin");
  Owned<GstPlugin> plugin(gst_plugin_load_by_name(name.c_str()));
  return Napi::Boolean::New(info.Env(), plugin != nullptr);
}

static Napi::Object start(Napi::Env env, Napi::Object exports) {
  gst_init(nullptr, nullptr);
  refuseManifests();
  auto *addon =
      new Addon{Napi::Persistent(Sample::define(env)), Napi::Persistent(Ring::define(env))};
  env.SetInstanceData(addon);
  exports.Set("Pipeline", Pipeline::define(env));
  exports.Set("Ring", addon->ring.Value());
  exports.Set("loadPlugin", Napi::Function::New(env, loadPlugin, "loadPlugin"));
  gchar *version = gst_version_string();
  exports.Set("version", version);
  g_free(version);
  return exports;
}

NODE_API_MODULE(node_gst, start)
