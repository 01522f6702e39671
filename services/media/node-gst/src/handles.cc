#include "handles.h"

#include <stdexcept>

template <class F>
static void addMethod(Napi::Object object, const char *name, F method) {
  object.Set(name, Napi::Function::New(object.Env(), std::move(method), name));
}

static void addClose(Napi::Object object, std::shared_ptr<Tap> tap,
                     std::shared_ptr<Mailbox> mailbox, uint32_t callback) {
  addMethod(object, "close", [=](const Napi::CallbackInfo &) {
    tap->close();
    mailbox->removeCallback(callback);
  });
}

Napi::Object makeHandle(Napi::Env env, std::shared_ptr<SampleQueue> queue,
                        std::shared_ptr<Mailbox> mailbox, uint32_t callback) {
  Napi::Object stream = Napi::Object::New(env);
  addMethod(stream, "stats", [queue](const Napi::CallbackInfo &info) {
    SampleQueue::Stats stats = queue->stats();
    Napi::Object object = Napi::Object::New(info.Env());
    object.Set("delivered", static_cast<double>(stats.delivered));
    object.Set("dropped", static_cast<double>(stats.dropped));
    return object;
  });
  addClose(stream, queue, std::move(mailbox), callback);
  return stream;
}

Napi::Object makeHandle(Napi::Env env, std::shared_ptr<RingFeed> feed,
                        std::shared_ptr<Mailbox> mailbox, uint32_t callback) {
  Napi::Object object = Napi::Object::New(env);
  addClose(object, feed, std::move(mailbox), callback);
  return object;
}

double parseRate(const Napi::Value &rate) {
  if (rate.IsUndefined() || rate.IsNull()) return 0;
  double value = rate.IsNumber() ? rate.As<Napi::Number>().DoubleValue() : 0;
  if (value > 0 && value <= 1e6) return value;
  throw Napi::TypeError::New(
      rate.Env(), "rate must be a number of frames per second above 0, or null for unlimited");
}

Napi::Object makeHandle(Napi::Env env, std::shared_ptr<Numbering> numbering) {
  Napi::Object object = Napi::Object::New(env);
  auto next = [numbering](const Napi::CallbackInfo &info) -> Napi::Value {
    return Napi::Number::New(info.Env(), static_cast<double>(numbering->next()));
  };
  object.DefineProperty(
      Napi::PropertyDescriptor::Accessor(env, object, "next", next, napi_enumerable));
  auto newestPts = [numbering](const Napi::CallbackInfo &info) -> Napi::Value {
    int64_t pts = numbering->newestPts();
    return pts == INT64_MIN ? info.Env().Null()
                            : Napi::Number::New(info.Env(), static_cast<double>(pts));
  };
  object.DefineProperty(
      Napi::PropertyDescriptor::Accessor(env, object, "newestPts", newestPts, napi_enumerable));
  addMethod(object, "setRate", [numbering](const Napi::CallbackInfo &info) {
    numbering->setRate(parseRate(info[0]));
  });
  addMethod(object, "continueFrom", [numbering](const Napi::CallbackInfo &info) {
    int64_t next = info[0].As<Napi::Number>().Int64Value();
    numbering->continueFrom(static_cast<uint64_t>(next), info[1].As<Napi::Number>().Int64Value());
  });
  return object;
}

Napi::Object makeHandle(Napi::Env env, std::shared_ptr<Branch> branch,
                        std::shared_ptr<Graph> graph) {
  Napi::Object object = Napi::Object::New(env);
  addMethod(object, "start", [=](const Napi::CallbackInfo &info) {
    if (!graph->pipeline()) throw std::logic_error("the pipeline has been disposed of");
    return graph->runAsync(info.Env(), [branch] { return branch->start(); });
  });
  addMethod(object, "remove", [=](const Napi::CallbackInfo &info) {
    auto pending = Pending::begin(info.Env(), graph->mailbox());
    if (graph->pipeline()) {
      graph->control().post([=] { branch->remove(pending); });
    } else {
      // The branch was removed with the pipeline.
      pending->resolve(std::nullopt);
    }
    return pending->promise();
  });
  return object;
}
