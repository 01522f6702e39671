import type { Ring } from './ring.ts'
import type { Sample, SampleOptions, SampleStream } from './sample.ts'
import type { Caps, Value } from './value.ts'

export type State = 'null' | 'ready' | 'paused' | 'playing'

/**
 * How a pipeline's running time maps to the stream's time, which goes on across pipelines:
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
  /** Throw away what is under way, for a prompt jump. Running time starts at 0 again. Default false. */
  flush?: boolean
  /** Land on the keyframe before rather than exactly. Default false. */
  keyUnit?: boolean
}

export interface PushOptions {
  ptsNs?: number
  dtsNs?: number
  durationNs?: number
  /** Needed by what follows, not to be shown itself: a decoder makes no picture of it. Default false. */
  decodeOnly?: boolean
}

export interface NumberOptions {
  /** Frames a second to let pass at most; null (default) for all. */
  rate?: number | null
  /** Number of the first frame; default 1. */
  start?: number
}

export interface Numbering {
  /** The number that the next frame gets: the `start` of whoever continues. */
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

/** The writing of one appsink's frames into a ring. */
export interface RingFeed {
  /** No frame is written any more once this has returned. The ring stays. */
  close(): void
}

/** A part of the pipeline that hangs on a tee and may come and go while the rest plays. */
export interface Branch {
  /** Joins the tee and takes the pipeline's state. Attach to its appsinks before, and no frame is missed. */
  start(): Promise<void>
  /** Leaves the tee and takes the branch down, whatever state it is in; the other branches lose nothing. */
  remove(): Promise<void>
}

/**
 * A GStreamer pipeline.
 *
 * While its state is, or is on the way to or from, anything but null, it keeps itself and the event loop alive.
 * Elements are named as in the launch string (`name=`), and names are unique in a pipeline with all its branches.
 * A method that is given the name of no element, a property that does not exist or a value out of range throws an
 * Error that says which; what GStreamer refuses is a `GstError`. What may take long returns a promise and runs on
 * the pipeline's own thread, in order.
 */
export interface Pipeline {
  /**
   * Resolves when the state is reached, which for a live source counts as soon as GStreamer says `no-preroll`.
   * Rejects with the bus error that prevented it, or with an `AbortError` when another change overtook it.
   * Pausing waits for whoever holds the stream up: a full queue that blocks, a ring without a grant.
   */
  setState(state: State): Promise<void>
  /** Of this pipeline, for all its samples and rings. Throws on a new `ptsOffset` after the first buffer. */
  setTimeline(timeline: Timeline): void

  /** Hands an appsink's buffers to JavaScript. An appsink has one taker: throws when it has one already. */
  samples(sink: string, options: SampleOptions, onSample: (sample: Sample) => void): SampleStream
  /**
   * Writes an appsink's frames into a ring on the streaming thread. Their numbers are those that `number` gave
   * them further up. `onFrame` learns of the newest frame, not of every one. A frame that cannot be written
   * (size, format, no number, no timestamp) is dropped, and the first such posts a `warning` message.
   */
  toRing(sink: string, ring: Ring, onFrame: (frame: RingFrame) => void): RingFeed
  /**
   * Gives the frames that pass a pad running numbers, which scaling, conversion and encoding keep, and lets at most `rate`
   * a second pass: a frame passes when `floor(pts × rate)` differs from that of the frame passed before, with
   * half a millisecond of grace since containers round to milliseconds. So what passes depends on pts alone.
   */
  number(element: string, pad: string, options?: NumberOptions): Numbering

  /** Copies `data` into a buffer for an appsrc; returns the bytes waiting there. Throws when it takes no more. */
  push(source: string, data: Uint8Array, options?: PushOptions): number
  endOfStream(source: string): void

  get(element: string, property: string): Value
  /** Strings are read in GStreamer's notation: `'video/x-raw,width=320'` for caps, nicknames for enums. */
  set(element: string, property: string, value: string | number | boolean): void
  /** Current caps of an element's pad; null before it has any. */
  caps(element: string, pad: string): Caps | null

  sendEos(): Promise<void>
  /** Rejects when no element can seek. */
  seek(options: SeekOptions): Promise<void>
  /** Asks the encoder at or above `element` for a keyframe; false when nothing took the request. */
  forceKeyUnit(element: string): boolean

  /** In ns; null when not known (yet). */
  position(): number | null
  duration(): number | null
  latency(): { live: boolean; minNs: number; maxNs: number | null } | null
  /** What the pipeline's clock says now, in ns of running time; null unless playing or paused. */
  runningTime(): number | null

  /**
   * Parses `launch` as a branch for the tee named `tee`. It should begin with a queue, so that it never holds up
   * the others. The tee stops asking upstream on its behalf: a branch that comes or goes changes neither the
   * caps nor the allocation of what feeds the tee. Throws `GstError` when the launch string is wrong.
   */
  add(launch: string, tee: string): Branch

  /** Takes it all down, whatever state it is in. Every other method throws from then on. May be called again. */
  dispose(): Promise<void>
}
