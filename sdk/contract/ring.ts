/**
 * Layout of a frame ring: a file on tmpfs with a header and a number of slots. Media writes it from native code, other
 * processes read it with pread. All numbers are little endian. Frame n (from 1) is stored in slot n % slots. The slot's
 * sequence is 2n-1 while frame n is being written and 2n once it is complete: a reader that finds 2n after copying the
 * payload has an intact copy of frame n.
 */
export const RING_MAGIC = 0x52595245
export const RING_VERSION = 2
export const RING_HEADER_BYTES = 4096
export const SLOT_HEADER_BYTES = 64

/** Byte offsets in the file header. */
export const ringHeader = {
  magic: 0,
  version: 4,
  slots: 8,
  width: 12,
  height: 16,
  format: 20,
  slotStride: 32,
  payloadSize: 40,
  generation: 48,
  epoch: 56,
  sourceWidth: 64,
  sourceHeight: 68,
  contentX: 72,
  contentY: 76,
  contentWidth: 80,
  contentHeight: 84,
  newest: 88,
} as const

/** Byte offsets in a slot. `time`: µs since 1970. `pts`: 90 kHz ticks. `payloadBytes`: varies between JPEG frames. */
export const slotHeader = {
  sequence: 0,
  n: 8,
  pts: 16,
  time: 24,
  flags: 32,
  payloadBytes: 36,
  payload: 64,
} as const

/** Slot flag: the stream was interrupted before this frame by a loop, reconnect or seek. */
export const FLAG_DISCONTINUITY = 1
