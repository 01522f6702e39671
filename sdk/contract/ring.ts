/**
 * The layout of a frame ring: a file on tmpfs with a header and slots, written natively by media, read with pread by
 * anyone. Little endian. Frame n (from 1) lies in slot n % slots. A slot's sequence is 2n-1 while frame n is written
 * and 2n when it is whole, so a reader that copies the payload first and finds 2n afterwards has frame n untorn.
 */
export const RING_MAGIC = 0x52595245
export const RING_VERSION = 2
export const RING_HEADER_BYTES = 4096
export const SLOT_HEADER_BYTES = 64

/** Byte offsets in the file's header. */
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

/** Byte offsets in a slot. `time` is µs since 1970, `pts` 90 kHz ticks; `payloadBytes` differ where they are JPEG. */
export const slotHeader = {
  sequence: 0,
  n: 8,
  pts: 16,
  time: 24,
  flags: 32,
  payloadBytes: 36,
  payload: 64,
} as const

/** Slot flag: the stream was interrupted before this frame (loop, reconnect, seek). */
export const FLAG_DISCONTINUITY = 1
