#include "failure.h"

Failure Failure::fromError(GError *error) {
  Failure failure;
  failure.message = error->message;
  failure.domain = g_quark_to_string(error->domain);
  failure.code = error->code;
  g_error_free(error);
  return failure;
}

Failure Failure::fromMessage(GstMessage *message) {
  GError *error = nullptr;
  gchar *debug = nullptr;
  switch (GST_MESSAGE_TYPE(message)) {
    case GST_MESSAGE_ERROR: gst_message_parse_error(message, &error, &debug); break;
    case GST_MESSAGE_WARNING: gst_message_parse_warning(message, &error, &debug); break;
    default: gst_message_parse_info(message, &error, &debug); break;
  }
  Failure failure = fromError(error);
  failure.source = GST_MESSAGE_SRC_NAME(message);
  if (debug) failure.debug = debug;
  g_free(debug);
  return failure;
}

Failure Failure::of(GstCoreError code, std::string message) {
  Failure failure;
  failure.message = std::move(message);
  failure.domain = g_quark_to_string(GST_CORE_ERROR);
  failure.code = code;
  return failure;
}

Failure Failure::aborted(std::string message) {
  Failure failure;
  failure.name = "AbortError";
  failure.message = std::move(message);
  return failure;
}

Napi::Error Failure::toJs(Napi::Env env) const {
  Napi::Error error = Napi::Error::New(env, message);
  error.Set("name", Napi::String::New(env, name));
  if (name != "GstError") return error;
  auto textOrNull = [env](const std::string &text) -> Napi::Value {
    if (text.empty()) return env.Null();
    return Napi::String::New(env, text);
  };
  error.Set("domain", Napi::String::New(env, domain));
  error.Set("code", Napi::Number::New(env, code));
  error.Set("source", textOrNull(source));
  error.Set("debug", textOrNull(debug));
  return error;
}
