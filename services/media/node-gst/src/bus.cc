#include "bus.h"

#include <string>

#include "failure.h"
#include "state.h"
#include "value.h"

bool isReported(GstMessage *message, GstElement *pipeline) {
  switch (GST_MESSAGE_TYPE(message)) {
    case GST_MESSAGE_ERROR:
    case GST_MESSAGE_WARNING:
    case GST_MESSAGE_INFO:
    case GST_MESSAGE_EOS:
    case GST_MESSAGE_STREAM_START:
    case GST_MESSAGE_ASYNC_DONE:
    case GST_MESSAGE_BUFFERING:
    case GST_MESSAGE_LATENCY:
    case GST_MESSAGE_CLOCK_LOST:
    case GST_MESSAGE_ELEMENT: return true;
    case GST_MESSAGE_STATE_CHANGED: return GST_MESSAGE_SRC(message) == GST_OBJECT(pipeline);
    default: return false;
  }
}

static void addState(Napi::Object object, GstMessage *message) {
  GstState from, to, pending;
  gst_message_parse_state_changed(message, &from, &to, &pending);
  object.Set("from", stateName(from));
  object.Set("to", stateName(to));
  if (pending == GST_STATE_VOID_PENDING) {
    object.Set("pending", object.Env().Null());
  } else {
    object.Set("pending", stateName(pending));
  }
}

static void addStructure(Napi::Object object, const GstStructure *structure) {
  object.Set("name", structure ? gst_structure_get_name(structure) : "");
  object.Set("fields",
             structure ? fieldsToJs(object.Env(), structure) : Napi::Object::New(object.Env()));
}

Napi::Object messageToJs(Napi::Env env, GstMessage *message) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("type", GST_MESSAGE_TYPE_NAME(message));
  object.Set("source", GST_MESSAGE_SRC(message) ? GST_MESSAGE_SRC_NAME(message) : "");
  switch (GST_MESSAGE_TYPE(message)) {
    case GST_MESSAGE_ERROR:
    case GST_MESSAGE_WARNING:
    case GST_MESSAGE_INFO:
      object.Set("error", Failure::fromMessage(message).toJs(env).Value());
      break;
    case GST_MESSAGE_STATE_CHANGED: addState(object, message); break;
    case GST_MESSAGE_ELEMENT: addStructure(object, gst_message_get_structure(message)); break;
    case GST_MESSAGE_BUFFERING: {
      gint percent;
      gst_message_parse_buffering(message, &percent);
      object.Set("percent", percent);
      break;
    }
    default: break;
  }
  return object;
}
