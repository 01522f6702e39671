#pragma once

#include <gst/video/video.h>

#include <cstdint>
#include <string>
#include <vector>

// The memory layout of a raw picture with consecutive planes and unpadded rows.
class PackedPicture {
 public:
  // Throws std::invalid_argument for a format that is unknown or not 8-bit.
  PackedPicture(const std::string &format, uint32_t width, uint32_t height);

  size_t size() const { return size_; }
  GstVideoFormat format() const { return GST_VIDEO_FORMAT_INFO_FORMAT(info_); }
  const char *formatName() const { return GST_VIDEO_FORMAT_INFO_NAME(info_); }
  guint components() const { return GST_VIDEO_FORMAT_INFO_N_COMPONENTS(info_); }
  // The coordinates of `place` must be multiples of these.
  uint32_t alignmentX() const;
  uint32_t alignmentY() const;

  // Fills `picture` with one value per component.
  void fill(uint8_t *picture, const std::vector<uint8_t> &values) const;
  // Copies `frame`, which must have the same format, to the position (x, y) in `picture`.
  void place(uint8_t *picture, const GstVideoFrame &frame, uint32_t x, uint32_t y) const;

 private:
  struct Plane {
    size_t offset;
    size_t rowBytes;
    uint32_t rows;
  };

  static size_t rowBytes(const GstVideoFormatInfo *info, guint plane, uint32_t width);
  guint firstComponent(guint plane) const;

  const GstVideoFormatInfo *info_;
  uint32_t width_;
  uint32_t height_;
  std::vector<Plane> planes_;
  size_t size_ = 0;
};
