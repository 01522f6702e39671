#include "value.h"

static Napi::Value textToJs(Napi::Env env, gchar *text) {
  if (!text) return env.Null();
  Napi::String string = Napi::String::New(env, text);
  g_free(text);
  return string;
}

static Napi::Value bufferToJs(Napi::Env env, GstBuffer *buffer) {
  if (!buffer) return env.Null();
  auto bytes = Napi::Uint8Array::New(env, gst_buffer_get_size(buffer));
  gst_buffer_extract(buffer, 0, bytes.Data(), bytes.ByteLength());
  return bytes;
}

static Napi::Value fractionToJs(Napi::Env env, const GValue *value) {
  Napi::Object fraction = Napi::Object::New(env);
  fraction.Set("numerator", gst_value_get_fraction_numerator(value));
  fraction.Set("denominator", gst_value_get_fraction_denominator(value));
  return fraction;
}

static Napi::Value enumToJs(Napi::Env env, const GValue *value) {
  auto *type = static_cast<GEnumClass *>(g_type_class_ref(G_VALUE_TYPE(value)));
  const GEnumValue *member = g_enum_get_value(type, g_value_get_enum(value));
  Napi::Value nick = member ? Napi::Value(Napi::String::New(env, member->value_nick)) : env.Null();
  g_type_class_unref(type);
  return nick;
}

template <auto size, auto at>
static Napi::Value arrayToJs(Napi::Env env, const GValue *value) {
  Napi::Array items = Napi::Array::New(env, size(value));
  for (guint i = 0; i < items.Length(); i++) items.Set(i, toJs(env, at(value, i)));
  return items;
}

Napi::Value toJs(Napi::Env env, const GValue *value) {
  auto number = [env](auto n) -> Napi::Value {
    return Napi::Number::New(env, static_cast<double>(n));
  };
  GType type = G_VALUE_TYPE(value);
  if (type == GST_TYPE_FRACTION) return fractionToJs(env, value);
  if (type == GST_TYPE_BUFFER) return bufferToJs(env, gst_value_get_buffer(value));
  if (type == GST_TYPE_ARRAY) {
    return arrayToJs<gst_value_array_get_size, gst_value_array_get_value>(env, value);
  }
  if (type == GST_TYPE_LIST) {
    return arrayToJs<gst_value_list_get_size, gst_value_list_get_value>(env, value);
  }
  if (type == GST_TYPE_CAPS) return textToJs(env, gst_caps_to_string(gst_value_get_caps(value)));
  switch (G_TYPE_FUNDAMENTAL(type)) {
    case G_TYPE_BOOLEAN: return Napi::Boolean::New(env, g_value_get_boolean(value));
    case G_TYPE_INT: return number(g_value_get_int(value));
    case G_TYPE_UINT: return number(g_value_get_uint(value));
    case G_TYPE_LONG: return number(g_value_get_long(value));
    case G_TYPE_ULONG: return number(g_value_get_ulong(value));
    case G_TYPE_INT64: return number(g_value_get_int64(value));
    case G_TYPE_UINT64: return number(g_value_get_uint64(value));
    case G_TYPE_FLOAT: return number(g_value_get_float(value));
    case G_TYPE_DOUBLE: return number(g_value_get_double(value));
    case G_TYPE_STRING: return textToJs(env, g_value_dup_string(value));
    case G_TYPE_ENUM: return enumToJs(env, value);
    default: return textToJs(env, gst_value_serialize(value));
  }
}

Napi::Object fieldsToJs(Napi::Env env, const GstStructure *structure) {
  Napi::Object fields = Napi::Object::New(env);
  for (int i = 0; i < gst_structure_n_fields(structure); i++) {
    const gchar *name = gst_structure_nth_field_name(structure, i);
    fields.Set(name, toJs(env, gst_structure_get_value(structure, name)));
  }
  return fields;
}

Napi::Object capsToJs(Napi::Env env, GstCaps *caps) {
  const GstStructure *structure = gst_caps_get_structure(caps, 0);
  Napi::Object object = Napi::Object::New(env);
  object.Set("name", gst_structure_get_name(structure));
  object.Set("fields", fieldsToJs(env, structure));
  object.Set("text", textToJs(env, gst_caps_to_string(caps)));
  return object;
}

bool fromText(GValue *value, const std::string &text, GParamSpec *property) {
  if (!G_VALUE_HOLDS_STRING(value)) {
    return gst_value_deserialize_with_pspec(value, text.c_str(), property);
  }
  g_value_set_string(value, text.c_str());
  return true;
}
