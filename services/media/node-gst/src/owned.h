#pragma once

#include <gst/gst.h>

#include <memory>

struct Unref {
  void operator()(gpointer object) const { gst_object_unref(object); }
};

// A reference to a GstObject, released at the end of the scope.
template <class T>
using Owned = std::unique_ptr<T, Unref>;
