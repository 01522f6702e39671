#include "property.h"

#include <stdexcept>

#include "value.h"

static std::string describe(GstElement *element, const std::string &property) {
  return "property \"" + property + "\" of element \"" + GST_OBJECT_NAME(element) + "\" ";
}

static GParamSpec *find(GstElement *element, const std::string &name, GParamFlags access) {
  GParamSpec *property = g_object_class_find_property(G_OBJECT_GET_CLASS(element), name.c_str());
  if (!property) {
    throw std::invalid_argument(std::string("element \"") + GST_OBJECT_NAME(element) +
                                "\" has no property \"" + name + "\"");
  }
  if (!(property->flags & access)) {
    const char *action = access == G_PARAM_READABLE ? "read" : "set";
    throw std::invalid_argument(describe(element, name) + "cannot be " + action);
  }
  return property;
}

namespace {
struct OwnedValue {
  explicit OwnedValue(GType type) { g_value_init(&value, type); }
  ~OwnedValue() { g_value_unset(&value); }
  GValue value = G_VALUE_INIT;
};
}  // namespace

Napi::Value getProperty(Napi::Env env, GstElement *element, const std::string &name) {
  OwnedValue owned(find(element, name, G_PARAM_READABLE)->value_type);
  g_object_get_property(G_OBJECT(element), name.c_str(), &owned.value);
  return toJs(env, &owned.value);
}

void setProperty(GstElement *element, const std::string &name, const std::string &value) {
  GParamSpec *property = find(element, name, G_PARAM_WRITABLE);
  OwnedValue owned(property->value_type);
  if (!fromText(&owned.value, value, property)) {
    throw std::invalid_argument(describe(element, name) + "cannot be \"" + value +
                                "\": it must be a " + g_type_name(property->value_type));
  }
  if (g_param_value_validate(property, &owned.value)) {
    throw std::invalid_argument(describe(element, name) + "cannot be " + value + ": out of range");
  }
  g_object_set_property(G_OBJECT(element), name.c_str(), &owned.value);
}
