#pragma once

#include <napi.h>

#include <memory>

#include "graph.h"

// The JavaScript class `Pipeline`. Parses arguments and delegates to `Graph`.
class Pipeline : public Napi::ObjectWrap<Pipeline> {
 public:
  static Napi::Function define(Napi::Env env);
  explicit Pipeline(const Napi::CallbackInfo &info);

 private:
  Napi::Value setState(const Napi::CallbackInfo &info);
  void setTimeline(const Napi::CallbackInfo &info);
  void realign(const Napi::CallbackInfo &info);
  Napi::Value samples(const Napi::CallbackInfo &info);
  Napi::Value toRing(const Napi::CallbackInfo &info);
  Napi::Value number(const Napi::CallbackInfo &info);
  void fillTimes(const Napi::CallbackInfo &info);
  Napi::Value push(const Napi::CallbackInfo &info);
  void endOfStream(const Napi::CallbackInfo &info);
  Napi::Value get(const Napi::CallbackInfo &info);
  void set(const Napi::CallbackInfo &info);
  Napi::Value caps(const Napi::CallbackInfo &info);
  Napi::Value newestRtpPacket(const Napi::CallbackInfo &info);
  Napi::Value sendEos(const Napi::CallbackInfo &info);
  Napi::Value seek(const Napi::CallbackInfo &info);
  Napi::Value forceKeyUnit(const Napi::CallbackInfo &info);
  template <auto query>
  Napi::Value ask(const Napi::CallbackInfo &info) {
    return query(info.Env(), graph().pipeline());
  }
  Napi::Value add(const Napi::CallbackInfo &info);
  Napi::Value dispose(const Napi::CallbackInfo &info);

  // Throws after the pipeline was disposed of.
  Graph &graph() const;
  Owned<GstElement> element(const Napi::CallbackInfo &info) const;

  std::shared_ptr<Graph> graph_;
  bool disposed_ = false;
};
