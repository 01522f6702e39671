#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>

inline const char *stateName(GstState state) {
  switch (state) {
    case GST_STATE_READY: return "ready";
    case GST_STATE_PAUSED: return "paused";
    case GST_STATE_PLAYING: return "playing";
    default: return "null";
  }
}

inline std::optional<GstState> parseState(const std::string &name) {
  for (GstState state : {GST_STATE_NULL, GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING}) {
    if (name == stateName(state)) return state;
  }
  return std::nullopt;
}
