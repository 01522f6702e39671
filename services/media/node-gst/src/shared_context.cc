#include "shared_context.h"

#include <mutex>
#include <string_view>

static constexpr std::string_view kContextType = "gst.cuda.context";
static constexpr std::string_view kPlugin = "nvcodec";

static std::mutex mutex;
// Not released at the end of the process, when the driver may have been unloaded.
static GstContext *shared = nullptr;

static void share(GstContext *context) {
  std::lock_guard lock(mutex);
  gst_context_replace(&shared, context);
}

// Returns a reference, or null.
static GstContext *getShared() {
  std::lock_guard lock(mutex);
  return shared ? gst_context_ref(shared) : nullptr;
}

static void onContext(GstMessage *message) {
  GstContext *context = nullptr;
  gst_message_parse_have_context(message, &context);
  if (gst_context_get_context_type(context) == kContextType) share(context);
  gst_context_unref(context);
}

static void onRequest(GstMessage *message) {
  const gchar *type = nullptr;
  if (!gst_message_parse_context_type(message, &type) || type != kContextType) return;
  GstContext *context = getShared();
  if (!context) return;
  gst_element_set_context(GST_ELEMENT(GST_MESSAGE_SRC(message)), context);
  gst_context_unref(context);
}

// After an error, a context may be unusable. The next pipeline creates a new one.
static void onError(GstMessage *message) {
  if (!GST_IS_ELEMENT(GST_MESSAGE_SRC(message))) return;
  GstElementFactory *factory = gst_element_get_factory(GST_ELEMENT(GST_MESSAGE_SRC(message)));
  const gchar *plugin =
      factory ? gst_plugin_feature_get_plugin_name(GST_PLUGIN_FEATURE(factory)) : nullptr;
  if (plugin && plugin == kPlugin) share(nullptr);
}

void shareContext(GstMessage *message) {
  switch (GST_MESSAGE_TYPE(message)) {
    case GST_MESSAGE_HAVE_CONTEXT: return onContext(message);
    case GST_MESSAGE_NEED_CONTEXT: return onRequest(message);
    case GST_MESSAGE_ERROR: return onError(message);
    default: return;
  }
}
