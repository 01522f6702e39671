#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "packed_picture.h"
#include "ring_layout.h"

// The properties of a ring, which never change.
struct RingShape {
  std::string path;
  uint32_t slots;
  uint32_t width;
  uint32_t height;
  std::string format;
  uint32_t contentX;
  uint32_t contentY;
  uint32_t contentWidth;
  uint32_t contentHeight;
  std::vector<uint8_t> fill;
  uint64_t generation;
  uint64_t epoch;
  uint32_t sourceWidth;
  uint32_t sourceHeight;
  uint64_t bytesLimit;
  // Maximum size of a JPEG. Unused for raw pictures, whose size follows from their format.
  uint64_t payloadLimit;
};

struct RingFrame {
  uint64_t n;
  int64_t pts;
  int64_t timeUs;
};

// Writes frames into a ring file without waiting for readers. The sequence of a slot is 2n-1 while
// frame n is written, and 2n afterwards. Readers use it to detect that a frame was overwritten
// while they read it (a sequence lock).
class RingFile {
 public:
  // Throws std::invalid_argument or std::runtime_error. No file remains in this case.
  explicit RingFile(RingShape shape);
  ~RingFile();
  RingFile(const RingFile &) = delete;

  const RingShape &shape() const { return shape_; }
  // The layout of raw pictures in their slots; nullopt for JPEG.
  const std::optional<PackedPicture> &picture() const { return picture_; }
  size_t payloadSize() const { return payloadSize_; }
  size_t bytes() const { return bytes_; }

  // With pacing, waits until frame `n` is granted; for the first frame of the ring, until any frame
  // is. Returns false if the ring is closed or `cancelled` returns true. `wake` must be called when
  // the result of `cancelled` changes.
  bool waitForGrant(uint64_t n, const std::function<bool()> &cancelled);
  void wake();
  // `place` writes the picture to `payload` and returns its size, at most `payloadSize`. Returns
  // false if a frame with this number or a later one has already been written.
  bool write(const RingFrame &frame, uint32_t flags,
             const std::function<size_t(uint8_t *payload)> &place);
  void countDropped() { dropped_++; }

  void grant(uint64_t n);
  void setPaced(bool paced);
  void close();

  struct Stats {
    uint64_t written;
    uint64_t dropped;
    uint64_t waitedNs;
  };
  Stats stats() const { return {written_, dropped_, waitedNs_}; }

 private:
  void check() const;
  void create();
  void initialize();
  RingHeader *header() const { return reinterpret_cast<RingHeader *>(memory_); }
  RingSlot *slot(uint64_t n) const {
    return reinterpret_cast<RingSlot *>(memory_ + kRingPage + (n % shape_.slots) * stride_);
  }

  const RingShape shape_;
  const std::optional<PackedPicture> picture_;
  const size_t payloadSize_;
  const size_t stride_;
  const size_t bytes_;
  uint8_t *memory_ = nullptr;
  dev_t device_ = 0;
  ino_t inode_ = 0;

  std::mutex writing_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool paced_ = false;
  bool closed_ = false;
  uint64_t granted_ = 0;
  std::atomic<uint64_t> written_ = 0;
  std::atomic<uint64_t> dropped_ = 0;
  std::atomic<uint64_t> waitedNs_ = 0;
};
