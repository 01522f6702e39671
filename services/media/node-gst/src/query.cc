#include "query.h"

static Napi::Value nanoseconds(Napi::Env env, bool known, guint64 ns) {
  if (!known || !GST_CLOCK_TIME_IS_VALID(ns)) return env.Null();
  return Napi::Number::New(env, static_cast<double>(ns));
}

Napi::Value queryPosition(Napi::Env env, GstElement *pipeline) {
  gint64 position = -1;
  bool known = gst_element_query_position(pipeline, GST_FORMAT_TIME, &position);
  return nanoseconds(env, known, position);
}

Napi::Value queryDuration(Napi::Env env, GstElement *pipeline) {
  gint64 duration = -1;
  bool known = gst_element_query_duration(pipeline, GST_FORMAT_TIME, &duration);
  return nanoseconds(env, known, duration);
}

Napi::Value queryLatency(Napi::Env env, GstElement *pipeline) {
  GstQuery *query = gst_query_new_latency();
  Napi::Value answer = env.Null();
  if (gst_element_query(pipeline, query)) {
    gboolean live;
    GstClockTime min, max;
    gst_query_parse_latency(query, &live, &min, &max);
    Napi::Object latency = Napi::Object::New(env);
    latency.Set("live", !!live);
    latency.Set("minNs", nanoseconds(env, true, min));
    latency.Set("maxNs", nanoseconds(env, true, max));
    answer = latency;
  }
  gst_query_unref(query);
  return answer;
}

Napi::Value queryRunningTime(Napi::Env env, GstElement *pipeline) {
  return nanoseconds(env, true, gst_element_get_current_running_time(pipeline));
}
