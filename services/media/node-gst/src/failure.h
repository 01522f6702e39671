#pragma once

#include <gst/gst.h>
#include <napi.h>

#include <string>

// An error of GStreamer that is passed from another thread to the JavaScript thread, where it
// becomes a JavaScript error.
struct Failure {
  std::string name = "GstError";
  std::string message;
  std::string domain;
  int code = 0;
  std::string source;
  std::string debug;

  // Takes ownership of `error`.
  static Failure fromError(GError *error);
  // `message` must be an error, warning or info message.
  static Failure fromMessage(GstMessage *message);
  // A failure for which GStreamer provides no message.
  static Failure of(GstCoreError code, std::string message);
  static Failure aborted(std::string message);

  Napi::Error toJs(Napi::Env env) const;
};
