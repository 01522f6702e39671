#include "packed_picture.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

static bool hasByteComponents(const GstVideoFormatInfo *info) {
  if (GST_VIDEO_FORMAT_INFO_IS_COMPLEX(info) || GST_VIDEO_FORMAT_INFO_IS_TILED(info)) return false;
  if (GST_VIDEO_FORMAT_INFO_HAS_PALETTE(info) || GST_VIDEO_FORMAT_INFO_N_COMPONENTS(info) == 0) {
    return false;
  }
  for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS(info); c++) {
    if (GST_VIDEO_FORMAT_INFO_DEPTH(info, c) != 8) return false;
  }
  return true;
}

PackedPicture::PackedPicture(const std::string &format, uint32_t width, uint32_t height)
    : info_(nullptr), width_(width), height_(height) {
  GstVideoFormat known = gst_video_format_from_string(format.c_str());
  if (known != GST_VIDEO_FORMAT_UNKNOWN) info_ = gst_video_format_get_info(known);
  if (!info_ || !hasByteComponents(info_)) {
    throw std::invalid_argument(
        "format \"" + format +
        "\" is not supported in rings: use an 8-bit format such as I420 or RGB");
  }
  for (guint p = 0; p < GST_VIDEO_FORMAT_INFO_N_PLANES(info_); p++) {
    guint component = firstComponent(p);
    uint32_t rows = GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT(info_, component, height);
    planes_.push_back({size_, rowBytes(info_, p, width), rows});
    size_ += planes_.back().rowBytes * rows;
  }
}

size_t PackedPicture::rowBytes(const GstVideoFormatInfo *info, guint plane, uint32_t width) {
  size_t bytes = 0;
  for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS(info); c++) {
    if (GST_VIDEO_FORMAT_INFO_PLANE(info, c) != plane) continue;
    size_t columns = GST_VIDEO_FORMAT_INFO_SCALE_WIDTH(info, c, width);
    bytes = std::max(bytes, columns * GST_VIDEO_FORMAT_INFO_PSTRIDE(info, c));
  }
  return bytes;
}

guint PackedPicture::firstComponent(guint plane) const {
  guint component = 0;
  while (GST_VIDEO_FORMAT_INFO_PLANE(info_, component) != plane) component++;
  return component;
}

uint32_t PackedPicture::alignmentX() const {
  guint shift = 0;
  for (guint c = 0; c < components(); c++) {
    shift = std::max(shift, GST_VIDEO_FORMAT_INFO_W_SUB(info_, c));
  }
  return 1u << shift;
}

uint32_t PackedPicture::alignmentY() const {
  guint shift = 0;
  for (guint c = 0; c < components(); c++) {
    shift = std::max(shift, GST_VIDEO_FORMAT_INFO_H_SUB(info_, c));
  }
  return 1u << shift;
}

void PackedPicture::fill(uint8_t *picture, const std::vector<uint8_t> &values) const {
  for (guint c = 0; c < components(); c++) {
    const Plane &plane = planes_[GST_VIDEO_FORMAT_INFO_PLANE(info_, c)];
    uint32_t columns = GST_VIDEO_FORMAT_INFO_SCALE_WIDTH(info_, c, width_);
    for (uint32_t row = 0; row < plane.rows; row++) {
      uint8_t *pixel =
          picture + plane.offset + row * plane.rowBytes + GST_VIDEO_FORMAT_INFO_POFFSET(info_, c);
      for (uint32_t column = 0; column < columns; column++) {
        pixel[size_t{column} * GST_VIDEO_FORMAT_INFO_PSTRIDE(info_, c)] = values[c];
      }
    }
  }
}

void PackedPicture::place(uint8_t *picture, const GstVideoFrame &frame, uint32_t x,
                          uint32_t y) const {
  for (guint p = 0; p < planes_.size(); p++) {
    const Plane &plane = planes_[p];
    guint component = firstComponent(p);
    size_t left = size_t{x >> GST_VIDEO_FORMAT_INFO_W_SUB(info_, component)} *
                  GST_VIDEO_FORMAT_INFO_PSTRIDE(info_, component);
    size_t top = y >> GST_VIDEO_FORMAT_INFO_H_SUB(info_, component);
    size_t bytes = rowBytes(info_, p, GST_VIDEO_FRAME_WIDTH(&frame));
    size_t rows =
        GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT(info_, component, GST_VIDEO_FRAME_HEIGHT(&frame));
    size_t stride = GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p);
    auto *from = static_cast<const uint8_t *>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p));
    uint8_t *to = picture + plane.offset + top * plane.rowBytes + left;
    if (stride == plane.rowBytes && bytes == plane.rowBytes) {
      std::memcpy(to, from, bytes * rows);
      continue;
    }
    for (size_t row = 0; row < rows; row++) {
      std::memcpy(to + row * plane.rowBytes, from + row * stride, bytes);
    }
  }
}
