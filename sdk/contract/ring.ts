/**
 * Layout of a frame ring, the file on tmpfs through which the media service passes the frames of a
 * view to the engine. Native code of the media service writes the file; readers use pread(2). All
 * numbers are little endian.
 *
 * The file has a header and a fixed number of slots. Frame n, counted from 1, is stored in slot n
 * % slots. The sequence number of the slot is 2n − 1 while frame n is being written, and 2n once
 * the frame is complete (a seqlock). If a reader copies the payload and then reads 2n, its copy
 * of frame n is intact.
 */

/** The first four bytes of the file, `ERYR` in ASCII. */
export const RING_MAGIC = 0x52595245
export const RING_VERSION = 2

export const RING_HEADER_BYTES = 4096
export const SLOT_HEADER_BYTES = 64

/**
 * Byte offsets of the fields of the file header. Sizes of pictures are in pixels; `content…` is the
 * part of the picture that the source covers, without padding. `slotStride` is the distance between
 * two slots in bytes, `newest` the number of the newest frame.
 */
export const RING_HEADER = {
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

/**
 * Byte offsets of the fields of a slot. `time` is in microseconds since 1970, `pts` in ticks of 90
 * kHz. `payloadBytes` varies between JPEG frames.
 */
export const SLOT_HEADER = {
  sequence: 0,
  n: 8,
  pts: 16,
  time: 24,
  flags: 32,
  payloadBytes: 36,
  payload: 64,
} as const

/** Flag of a slot: a loop, reconnect or seek interrupted the stream before this frame. */
export const FLAG_DISCONTINUITY = 1
