#pragma once

#include <cstddef>
#include <cstdint>

// The file format of a ring: a header page, followed by the slots. Frame n is in slot n % slots.
// Integers are little-endian. Readers depend on this layout, so a change requires a new version.

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "rings are little endian");

struct RingHeader {
  uint32_t magic;
  uint32_t version;
  uint32_t slots;
  uint32_t width;
  uint32_t height;
  char format[8];
  uint32_t reserved;
  uint64_t slotStride;
  uint64_t payloadSize;
  uint64_t generation;
  uint64_t epoch;
  uint32_t sourceWidth;
  uint32_t sourceHeight;
  uint32_t contentX;
  uint32_t contentY;
  uint32_t contentWidth;
  uint32_t contentHeight;
  uint64_t newest;
};

struct RingSlot {
  uint64_t sequence;
  uint64_t n;
  int64_t pts;
  int64_t timeUs;
  uint32_t flags;
  uint32_t payloadBytes;
};

inline constexpr uint32_t kRingMagic = 0x52595245;  // "ERYR"
inline constexpr uint32_t kRingVersion = 2;
inline constexpr size_t kRingPage = 4096;
inline constexpr size_t kRingPayloadOffset = 64;
inline constexpr uint32_t kRingDiscont = 1;

static_assert(offsetof(RingHeader, slotStride) == 32);
static_assert(offsetof(RingHeader, sourceWidth) == 64);
static_assert(offsetof(RingHeader, newest) == 88);
static_assert(offsetof(RingSlot, flags) == 32);
static_assert(offsetof(RingSlot, payloadBytes) == 36);
static_assert(sizeof(RingSlot) <= kRingPayloadOffset);
