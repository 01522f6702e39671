#include "graph.h"

#include <stdexcept>

#include "bus.h"
#include "shared_context.h"

Graph::Graph(Napi::Env env, Napi::Object owner, GstElement *pipeline, Napi::Function onMessage)
    : env_(env),
      pipeline_(pipeline),
      mailbox_(std::make_shared<Mailbox>(env, owner)),
      onMessage_(mailbox_->addCallback(onMessage)),
      timeline_(std::make_shared<Timeline>(pipeline)),
      state_(pipeline, mailbox_, control_, taps_) {
  Owned<GstBus> bus(gst_element_get_bus(pipeline));
  gst_bus_set_sync_handler(bus.get(), onBus, this, nullptr);
  napi_add_env_cleanup_hook(env_, onEnvironmentExit, this);
}

Graph::~Graph() {
  napi_remove_env_cleanup_hook(env_, onEnvironmentExit, this);
  shutDown();
  mailbox_->close();
}

void Graph::onEnvironmentExit(void *data) {
  auto *graph = static_cast<Graph *>(data);
  graph->shutDown();
  graph->mailbox_->close();
}

void Graph::shutDown() {
  state_.abandon();
  taps_.setStopped(true);
  control_.stop();
  if (!pipeline_) return;
  gst_element_set_state(pipeline(), GST_STATE_NULL);
  taps_.detachIn(pipeline());
  Owned<GstBus> bus(gst_element_get_bus(pipeline()));
  gst_bus_set_sync_handler(bus.get(), nullptr, nullptr, nullptr);
  pipeline_.reset();
}

GstBusSyncReply Graph::onBus(GstBus *, GstMessage *message, gpointer data) {
  auto *graph = static_cast<Graph *>(data);
  shareContext(message);
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_LATENCY) {
    graph->control_.post([graph] { gst_bin_recalculate_latency(GST_BIN(graph->pipeline())); });
  }
  if (isReported(message, graph->pipeline())) {
    std::shared_ptr<GstMessage> shared(gst_message_ref(message), gst_message_unref);
    graph->mailbox_->post(
        [mailbox = graph->mailbox_, callback = graph->onMessage_, shared](Napi::Env env) {
          mailbox->call(env, callback, {messageToJs(env, shared.get())});
        });
  }
  // Must come last: JavaScript receives an error or state message before the promise that depends
  // on it resolves or rejects.
  graph->state_.onMessage(message);
  gst_message_unref(message);
  return GST_BUS_DROP;
}

static std::string listElements(GstElement *bin) {
  std::string names;
  GstIterator *elements = gst_bin_iterate_recurse(GST_BIN(bin));
  auto append = [](const GValue *item, gpointer data) {
    auto *list = static_cast<std::string *>(data);
    *list += (list->empty() ? "" : ", ") + std::string(GST_OBJECT_NAME(g_value_get_object(item)));
  };
  gst_iterator_foreach(elements, append, &names);
  gst_iterator_free(elements);
  return names;
}

Owned<GstElement> Graph::find(const std::string &name) const {
  Owned<GstElement> element(gst_bin_get_by_name(GST_BIN(pipeline()), name.c_str()));
  if (element) return element;
  throw std::invalid_argument("the pipeline has no element \"" + name + "\"; it has " +
                              listElements(pipeline()));
}

Owned<GstPad> Graph::findPad(const std::string &element, const std::string &pad) const {
  Owned<GstPad> result(gst_element_get_static_pad(find(element).get(), pad.c_str()));
  if (result) return result;
  throw std::invalid_argument("element \"" + element + "\" has no pad \"" + pad + "\"");
}

Napi::Value Graph::runAsync(Napi::Env env, std::function<std::optional<Failure>()> work) {
  auto pending = Pending::begin(env, mailbox_);
  control_.post([pending, work = std::move(work)] { pending->resolve(work()); });
  return pending->promise();
}
