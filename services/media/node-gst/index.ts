import { addon } from './addon.ts'

export type { GstError, Message } from './message.ts'
export { isGstError } from './message.ts'
export type {
  Branch,
  Numbering,
  NumberOptions,
  PushOptions,
  RingFeed,
  RingFrame,
  SeekOptions,
  State,
  Timeline,
} from './pipeline.ts'
export { Pipeline } from './pipeline.ts'
export type { Pacing, RingOptions, RingStats } from './ring.ts'
export { Ring } from './ring.ts'
export type { Sample, SampleOptions, SampleStream, WhenFull } from './sample.ts'
export type { Caps, Fraction, Value } from './value.ts'

/** GStreamer's version: `GStreamer 1.22.0`. */
export const version: string = addon.version
