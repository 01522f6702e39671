import type { Ring } from './ring.ts'
import type { Sample, SampleOptions, SampleStream } from './sample.ts'
import type { Caps, Value } from './value.ts'

/** States of a GStreamer pipeline, from stopped to running. */
export type State = 'null' | 'ready' | 'paused' | 'playing'

/**
 * Mapping from a pipeline's running time to stream time, which continues from one pipeline to the
 * next: `pts = ptsOffset + round(running time in s × 90000)`,
 * `timeUs = timeAnchorUs + running time in µs`.
 */
export interface Timeline {
  /**
   * Stream time at running time 0, in 90 kHz ticks. After the first buffer, only `realign` may
   * change it. Default 0.
   */
  ptsOffset?: number
  /**
   * Wall clock at running time 0, in µs since 1970. May be adjusted while the pipeline plays. By
   * default, it is measured for the first buffer.
   */
  timeAnchorUs?: number
}

export interface SeekOptions {
  /** Position to seek to. */
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
  /**
   * Decode the packet only as a reference for later packets, without output of a
   * picture. Default false.
   */
  decodeOnly?: boolean
}

export interface NumberOptions {
  /** Maximum number of frames per second; null (default) for unlimited. */
  rate?: number | null
  /** Number of the first frame; default 1. */
  start?: number
}

/** Numbers the frames that pass a pad (a connection point of an element). */
export interface Numbering {
  /**
   * Number of the next frame. Another numbering continues this one if it starts with this number.
   */
  readonly next: number
  /** Stream time of the newest frame that has passed, in 90 kHz ticks; null before the first. */
  readonly newestPts: number | null
  setRate(rate: number | null): void
  /**
   * Continues the frames of another pipeline: raises the next number to `next`, and drops frames up
   * to the stream time `pts`.
   */
  continueFrom(next: number, pts: number): void
}

/** A frame that was written to a ring (a file from which other processes read frames). */
export interface RingFrame {
  /** Number of the frame. */
  n: number
  /** Stream time in 90 kHz ticks. */
  pts: number
  /** Capture time in µs since 1970. */
  timeUs: number
}

/** Writes the frames of an appsink into a ring. */
export interface RingFeed {
  /** Stops writing. No frame is written after this method returns. The ring remains. */
  close(): void
}

/** A part of the pipeline behind a tee, which can be added and removed while the rest plays. */
export interface Branch {
  /**
   * Links the branch to the tee. Read the appsinks of the branch before, so that no frame is
   * missed.
   */
  start(): Promise<void>
  /** Unlinks and removes the branch, in any state. Other branches are not affected. */
  remove(): Promise<void>
}

/** The times of one RTP packet, which map running time to the clock of the sender. */
export interface RtpPacket {
  /** RTP timestamp, in ticks of `clockRate` modulo 2³². */
  timestamp: number
  /** Running time in 90 kHz ticks. */
  runningTicks: number
  /** Ticks per second. */
  clockRate: number
}

/**
 * A GStreamer pipeline.
 *
 * A pipeline keeps itself and the event loop alive until its state is null. Methods find elements
 * by the names in the launch string (`name=`), which must be unique in the pipeline and its
 * branches. Methods throw an `Error` for an unknown element or property and for a value out of
 * range; errors of GStreamer are `GstError`s. Methods that may block return a promise and run on
 * the pipeline's own thread, in order.
 */
export interface Pipeline {
  /**
   * Changes the state. Resolves when the state is reached or, for a live source, when GStreamer
   * reports `no-preroll`. Rejects with the error that prevented the change, or with an `AbortError`
   * if another change has superseded this one. Pausing waits while the stream is blocked by a full
   * queue or by a ring that waits for a grant.
   */
  setState(state: State): Promise<void>
  /**
   * Sets the times of all samples and ring frames. Throws if `ptsOffset` changes
   * after the first buffer.
   */
  setTimeline(timeline: Timeline): void
  /**
   * Changes the `ptsOffset` for buffers after the newest one. Buffers that have already passed a
   * sink or a numbering keep their offset, so a packet and its decoded frame have the same `pts`.
   */
  realign(ptsOffset: number): void

  /**
   * Passes the buffers of an appsink to JavaScript. Throws if the appsink already has a reader. If
   * `onSample` throws, it is not called again, and an `error` message reports the exception.
   */
  samples(sink: string, options: SampleOptions, onSample: (sample: Sample) => void): SampleStream
  /**
   * Writes the frames of an appsink into a ring, on the streaming thread and with the numbers that
   * `number` has assigned upstream. `onFrame` is called with the newest frame, which may skip
   * frames. If it throws, writing stops, and an `error` message reports the exception. A frame with
   * a wrong size or format, or without a number or timestamp, is dropped; the first such frame
   * causes a `warning` message.
   */
  toRing(sink: string, ring: Ring, onFrame: (frame: RingFrame) => void): RingFeed
  /**
   * Assigns consecutive numbers to the frames that pass a pad. Scaling, conversion and
   * encoding preserve the numbers. The frame rate is limited to `rate`: a frame passes if
   * `floor(pts × rate)` differs from that of the previous frame that passed, so the
   * selection depends only on the `pts`. Half a millisecond is tolerated, because containers
   * round to milliseconds. With a rate, frames without a timestamp are dropped.
   */
  number(element: string, pad: string, options?: NumberOptions): Numbering
  /**
   * Makes the timestamps of the pictures that pass a pad increase: a picture without a timestamp of
   * its own gets one a tick of stream time after that of the previous picture. For pictures that
   * are stamped on arrival, of which several may arrive in one piece of data.
   */
  fillTimes(element: string, pad: string): void

  /**
   * Copies `data` into a buffer for an appsrc. Returns the number of bytes queued there. Throws if
   * the appsrc is stopped or has ended.
   */
  push(source: string, data: Uint8Array, options?: PushOptions): number
  endOfStream(source: string): void

  get(element: string, property: string): Value
  /**
   * Sets a property. Strings are in the notation of GStreamer: `'video/x-raw,width=320'` for caps,
   * nicknames for enums.
   */
  set(element: string, property: string, value: string | number | boolean): void
  /** Returns the current caps of a pad; null before caps are negotiated. */
  caps(element: string, pad: string): Caps | null

  /**
   * Returns the newest packet that a depayloader has received; null before the first one, and while
   * the pipeline has no element of this name.
   */
  newestRtpPacket(depayloader: string): RtpPacket | null

  sendEos(): Promise<void>
  /** Rejects if no element can seek. */
  seek(options: SeekOptions): Promise<void>
  /**
   * Requests a keyframe from the encoder at or upstream of `element`. Returns false if no element
   * has handled the request.
   */
  forceKeyUnit(element: string): boolean

  /** Returns the position in ns; null if unknown. */
  position(): number | null
  /** Returns the duration in ns; null if unknown. */
  duration(): number | null
  latency(): { live: boolean; minNs: number; maxNs: number | null } | null
  /** Returns the current running time in ns; null unless the pipeline is playing or paused. */
  runningTime(): number | null

  /**
   * Creates a branch for the tee named `tee`. The launch string should begin with a queue, so that
   * the branch never blocks other branches. Adding or removing a branch changes neither the caps
   * nor the allocation upstream of the tee, because the tee does not forward the queries of
   * branches. Throws `GstError` if the launch string is invalid.
   */
  add(launch: string, tee: string): Branch

  /**
   * Stops and releases the pipeline, in any state. Afterwards all other methods throw. May
   * be called repeatedly.
   */
  dispose(): Promise<void>
}
