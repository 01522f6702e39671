#pragma once

#include <gst/gst.h>
#include <napi.h>

#include <string>

// What GStreamer says went wrong, carried between threads until it can become a JavaScript error.
struct Failure {
  std::string name = "GstError";
  std::string message;
  std::string domain;
  int code = 0;
  std::string source;
  std::string debug;

  // Takes over `error`.
  static Failure fromError(GError *error);
  // From an error, warning or info message.
  static Failure fromMessage(GstMessage *message);
  // A core library failure that came without words of its own.
  static Failure of(GstCoreError code, std::string message);
  static Failure aborted(std::string message);

  Napi::Error toJs(Napi::Env env) const;
};
