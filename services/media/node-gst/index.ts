import { addon } from './addon.ts'
import { GuardedPipeline } from './guarded-pipeline.ts'
import type { Pipeline as NativePipeline } from './pipeline.ts'
import type { Ring as NativeRing } from './ring.ts'

// Entry point of the GStreamer binding: runs media pipelines through a native addon. `Ring` is a
// class of the addon, and `Pipeline` guards the callbacks of one. pipeline.ts and ring.ts describe
// them as interfaces.

export type { GstError, Message } from './message.ts'
export { isCallbackError, isGstError } from './message.ts'
export type {
  Branch,
  Numbering,
  NumberOptions,
  PushOptions,
  RingFeed,
  RingFrame,
  RtpPacket,
  SeekOptions,
  State,
  Timeline,
} from './pipeline.ts'
export type { Pacing, RingOptions, RingStats } from './ring.ts'
export type { Sample, SampleOptions, SampleStream, WhenFull } from './sample.ts'
export type { Caps, Fraction, Value } from './value.ts'

export type Pipeline = NativePipeline
export const Pipeline: typeof addon.Pipeline = GuardedPipeline

export type Ring = NativeRing
export const Ring: typeof addon.Ring = addon.Ring

export const loadPlugin: typeof addon.loadPlugin = addon.loadPlugin

/** Version of GStreamer, such as `GStreamer 1.22.0`. */
export const version: string = addon.version
