#include "addon.h"

#include <gst/gst.h>

#include "pipeline.h"
#include "ring.h"
#include "sample.h"

static Napi::Object start(Napi::Env env, Napi::Object exports) {
  gst_init(nullptr, nullptr);
  auto *addon = new Addon{Napi::Persistent(Sample::define(env)), Napi::Persistent(Ring::define(env))};
  env.SetInstanceData(addon);
  exports.Set("Pipeline", Pipeline::define(env));
  exports.Set("Ring", addon->ring.Value());
  gchar *version = gst_version_string();
  exports.Set("version", version);
  g_free(version);
  return exports;
}

NODE_API_MODULE(node_gst, start)
