#include "rtp_packet.h"

#include <array>
#include <mutex>

#include "owned.h"
#include "timeline.h"

namespace {

// The header of an RTP packet begins with flags and a sequence number. The timestamp follows (RFC
// 3550, section 5.1).
constexpr gsize kTimestampOffset = 4;
constexpr gsize kTimestampSize = 4;

// The newest packet of a depayloader. Written by the streaming thread, read by the JavaScript
// thread.
class Recorder {
 public:
  void record(GstPad *pad, GstBuffer *buffer) {
    std::array<uint8_t, kTimestampSize> bytes;
    if (gst_buffer_extract(buffer, kTimestampOffset, bytes.data(), bytes.size()) != bytes.size()) {
      return;
    }
    auto running = findRunningTicks(pad, buffer);
    if (!running) return;
    std::lock_guard lock(mutex_);
    timestamp_ = GST_READ_UINT32_BE(bytes.data());
    runningTicks_ = running;
  }

  std::optional<RtpPacket> newest(int32_t clockRate) {
    std::lock_guard lock(mutex_);
    if (!runningTicks_) return std::nullopt;
    return RtpPacket{timestamp_, *runningTicks_, clockRate};
  }

 private:
  static std::optional<int64_t> findRunningTicks(GstPad *pad, GstBuffer *buffer) {
    GstEvent *event = gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0);
    if (!event) return std::nullopt;
    const GstSegment *segment;
    gst_event_parse_segment(event, &segment);
    auto ticks = runningTicks(*segment, GST_BUFFER_PTS(buffer));
    gst_event_unref(event);
    return ticks;
  }

  std::mutex mutex_;
  uint32_t timestamp_ = 0;
  std::optional<int64_t> runningTicks_;
};

GQuark recorderQuark() {
  static GQuark quark = g_quark_from_static_string("eyrie-rtp-recorder");
  return quark;
}

Recorder *findRecorder(GstElement *element) {
  return static_cast<Recorder *>(g_object_get_qdata(G_OBJECT(element), recorderQuark()));
}

GstPadProbeReturn onPacket(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  auto *recorder = static_cast<Recorder *>(data);
  if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
    GstBufferList *list = GST_PAD_PROBE_INFO_BUFFER_LIST(info);
    guint length = gst_buffer_list_length(list);
    if (length > 0) recorder->record(pad, gst_buffer_list_get(list, length - 1));
  } else {
    recorder->record(pad, GST_PAD_PROBE_INFO_BUFFER(info));
  }
  return GST_PAD_PROBE_OK;
}

void recordPackets(GstElement *element) {
  GstElementFactory *factory = gst_element_get_factory(element);
  if (!factory ||
      !gst_element_factory_list_is_type(factory, GST_ELEMENT_FACTORY_TYPE_DEPAYLOADER)) {
    return;
  }
  Owned<GstPad> pad(gst_element_get_static_pad(element, "sink"));
  if (!pad || findRecorder(element)) return;
  auto *recorder = new Recorder();
  g_object_set_qdata_full(G_OBJECT(element), recorderQuark(), recorder,
                          [](gpointer data) { delete static_cast<Recorder *>(data); });
  auto types =
      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST);
  gst_pad_add_probe(pad.get(), types, onPacket, recorder, nullptr);
}

void onElementAdded(GstBin *, GstBin *, GstElement *element, gpointer) { recordPackets(element); }

}  // namespace

void recordRtpPackets(GstBin *bin) {
  g_signal_connect(bin, "deep-element-added", G_CALLBACK(onElementAdded), nullptr);
  auto record = [](const GValue *item, gpointer) {
    recordPackets(GST_ELEMENT(g_value_get_object(item)));
  };
  GstIterator *elements = gst_bin_iterate_recurse(bin);
  while (gst_iterator_foreach(elements, record, nullptr) == GST_ITERATOR_RESYNC) {
    gst_iterator_resync(elements);
  }
  gst_iterator_free(elements);
}

std::optional<RtpPacket> newestRtpPacket(GstElement *depayloader) {
  Recorder *recorder = findRecorder(depayloader);
  Owned<GstPad> pad(gst_element_get_static_pad(depayloader, "sink"));
  GstCaps *caps = recorder && pad ? gst_pad_get_current_caps(pad.get()) : nullptr;
  if (!caps) return std::nullopt;
  gint clockRate = 0;
  gst_structure_get_int(gst_caps_get_structure(caps, 0), "clock-rate", &clockRate);
  gst_caps_unref(caps);
  return clockRate > 0 ? recorder->newest(clockRate) : std::nullopt;
}
