#include "redirect_guard.h"

#include <gst/rtsp/gstrtspmessage.h>
#include <gst/rtsp/gstrtspurl.h>

#include <mutex>
#include <string>

namespace {

std::string findServer(const gchar *uri) {
  GstRTSPUrl *url = nullptr;
  if (!uri || gst_rtsp_url_parse(uri, &url) != GST_RTSP_OK || !url->host) return "";
  guint16 port = 0;
  gst_rtsp_url_get_port(url, &port);
  std::string server = std::string(url->host) + ":" + std::to_string(port);
  gst_rtsp_url_free(url);
  return server;
}

// Refuses the requests that follow a redirect. rtspsrc opens each connection with OPTIONS and
// DESCRIBE for its location, which a redirect has replaced.
class RedirectGuard {
 public:
  // Returns whether a request may be sent.
  bool admit(GstElement *source, GstRTSPMessage *message) {
    GstRTSPMethod method;
    const gchar *uri;
    if (gst_rtsp_message_get_type(message) != GST_RTSP_MESSAGE_REQUEST ||
        gst_rtsp_message_parse_request(message, &method, &uri, nullptr) != GST_RTSP_OK) {
      return true;
    }

    std::lock_guard<std::mutex> lock(mutex_);
    if (isRefused_) return false;
    // After SETUP, OPTIONS keeps the session alive, for a URL from the description, which may have
    // another host although it is sent over the same connection: cameras behind a router do not
    // know its address.
    if (method == GST_RTSP_SETUP) hasSession_ = true;
    if (method == GST_RTSP_TEARDOWN || method == GST_RTSP_DESCRIBE) hasSession_ = false;
    bool isOpening = method == GST_RTSP_DESCRIBE || (method == GST_RTSP_OPTIONS && !hasSession_);
    if (!isOpening) return true;

    std::string server = findServer(uri);
    if (server_.empty()) server_ = server;
    isRefused_ = server != server_;
    if (isRefused_) {
      GST_ELEMENT_ERROR(source, RESOURCE, OPEN_WRITE, ("The camera redirects to another host."),
                        ("%s", uri));
    }
    return !isRefused_;
  }

 private:
  std::mutex mutex_;
  std::string server_;
  bool hasSession_ = false;
  bool isRefused_ = false;
};

gboolean onBeforeSend(GstElement *source, GstRTSPMessage *message, gpointer guard) {
  return static_cast<RedirectGuard *>(guard)->admit(source, message);
}

void guard(const GValue *item, gpointer) {
  auto *element = GST_ELEMENT(g_value_get_object(item));
  GstElementFactory *factory = gst_element_get_factory(element);
  if (!factory || g_strcmp0(GST_OBJECT_NAME(factory), "rtspsrc") != 0) return;
  g_signal_connect_data(
      element, "before-send", G_CALLBACK(onBeforeSend), new RedirectGuard(),
      [](gpointer guard, GClosure *) { delete static_cast<RedirectGuard *>(guard); },
      GConnectFlags(0));
}

}  // namespace

void guardRedirects(GstBin *bin) {
  GstIterator *elements = gst_bin_iterate_recurse(bin);
  while (gst_iterator_foreach(elements, guard, nullptr) == GST_ITERATOR_RESYNC) {
    gst_iterator_resync(elements);
  }
  gst_iterator_free(elements);
}
