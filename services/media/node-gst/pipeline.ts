import type { Ring } from './ring.ts'
import type { Sample, SampleOptions, SampleStream } from './sample.ts'
import type { Caps, Value } from './value.ts'

export type State = 'null' | 'ready' | 'paused' | 'playing'

/**
 * How a pipeline's running time maps to stream time, which continues across pipelines:
 * `pts = ptsOffset + round(running time in s × 90000)`, `timeUs = timeAnchorUs + running time in µs`.
 */
export interface Timeline {
  /** 90 kHz ticks of stream time at running time 0. Fixed once the first buffer has been stamped. Default 0. */
  ptsOffset?: number
  /** Wall clock, in µs since 1970, at running time 0. May be adjusted while playing. Default 0. */
  timeAnchorUs?: number
}

export interface SeekOptions {
  toNs: number
  /** Discard queued data, for an immediate jump. Running time restarts at 0. Default false. */
  flush?: boolean
  /** Seek to the preceding keyframe instead of the exact position. Default false. */
  keyUnit?: boolean
}

export interface PushOptions {
  ptsNs?: number
  dtsNs?: number
  durationNs?: number
  /** Only needed as a reference by later packets: a decoder outputs no picture for it. Default false. */
  decodeOnly?: boolean
}

export interface NumberOptions {
  /** Maximum number of frames per second; null (default) for unlimited. */
  rate?: number | null
  /** Number of the first frame; default 1. */
  start?: number
}

export interface Numbering {
  /** The number of the next frame, which is the `start` for a numbering that continues this one. */
  readonly next: number
  setRate(rate: number | null): void
}

/** One frame in a ring. */
export interface RingFrame {
  n: number
  /** 90 kHz ticks of stream time. */
  pts: number
  /** µs since 1970. */
  timeUs: number
}

/** Writes the frames of an appsink into a ring. */
export interface RingFeed {
  /** Stops writing before it returns. The ring remains. */
  close(): void
}

/** A part of the pipeline behind a tee, which can be added and removed while the rest plays. */
export interface Branch {
  /** Links to the tee and follows the pipeline's state. Attach to the branch's appsinks first, so that no frame is missed. */
  start(): Promise<void>
  /** Unlinks from the tee and removes the branch, in any state. Other branches are not affected. */
  remove(): Promise<void>
}

/**
 * A GStreamer pipeline.
 *
 * While its state is not null, or is changing, a pipeline keeps itself and the event loop alive. Elements have the names of
 * the launch string (`name=`), which are unique in a pipeline with all its branches. An unknown element or property, or a
 * value out of range, throws an Error that names it; errors of GStreamer are `GstError`s. Methods that may block return a
 * promise and run on the pipeline's own thread, in order.
 */
export interface Pipeline {
  /**
   * Resolves when the state is reached; for a live source, when GStreamer reports `no-preroll`. Rejects with the bus error
   * that prevented it, or with an `AbortError` if another change superseded it. Pausing waits while the stream is blocked by
   * a full queue or a ring without a grant.
   */
  setState(state: State): Promise<void>
  /** Sets the timeline of all samples and rings. Throws if `ptsOffset` changes after the first buffer. */
  setTimeline(timeline: Timeline): void

  /** Passes an appsink's buffers to JavaScript. Throws if the appsink is already read. */
  samples(sink: string, options: SampleOptions, onSample: (sample: Sample) => void): SampleStream
  /**
   * Writes an appsink's frames into a ring on the streaming thread, with the numbers that `number` assigned upstream.
   * `onFrame` is called with the newest frame, not with every one. A frame that cannot be written (size, format, no number,
   * no timestamp) is dropped; the first such frame posts a `warning` message.
   */
  toRing(sink: string, ring: Ring, onFrame: (frame: RingFrame) => void): RingFeed
  /**
   * Assigns consecutive numbers to the frames that pass a pad, which scaling, conversion and encoding preserve, and limits
   * them to `rate` per second: a frame passes if `floor(pts × rate)` differs from that of the previous frame passed, with a
   * tolerance of half a millisecond since containers round to milliseconds. The selection only depends on pts.
   */
  number(element: string, pad: string, options?: NumberOptions): Numbering

  /** Copies `data` into a buffer for an appsrc and returns the bytes queued there. Throws if it accepts no more. */
  push(source: string, data: Uint8Array, options?: PushOptions): number
  endOfStream(source: string): void

  get(element: string, property: string): Value
  /** Strings are in GStreamer's notation: `'video/x-raw,width=320'` for caps, nicknames for enums. */
  set(element: string, property: string, value: string | number | boolean): void
  /** Returns the current caps of an element's pad; null before they are negotiated. */
  caps(element: string, pad: string): Caps | null

  sendEos(): Promise<void>
  /** Rejects if no element can seek. */
  seek(options: SeekOptions): Promise<void>
  /** Requests a keyframe from the encoder at or upstream of `element`; false if no element handled the request. */
  forceKeyUnit(element: string): boolean

  /** In ns; null if unknown. */
  position(): number | null
  duration(): number | null
  latency(): { live: boolean; minNs: number; maxNs: number | null } | null
  /** The current running time in ns; null unless playing or paused. */
  runningTime(): number | null

  /**
   * Parses `launch` as a branch for the tee named `tee`. It should begin with a queue, so that it never blocks other branches.
   * The tee does not forward the branch's queries upstream: adding or removing a branch changes neither the caps nor the
   * allocation upstream of the tee. Throws `GstError` if the launch string is invalid.
   */
  add(launch: string, tee: string): Branch

  /** Stops and releases the pipeline, in any state. Afterwards every other method throws. May be called again. */
  dispose(): Promise<void>
}
