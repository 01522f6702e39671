import type { State } from './pipeline.ts'
import type { Value } from './value.ts'

/** An error of GStreamer. Methods throw it or reject with it, and `error` messages contain it. */
export interface GstError extends Error {
  name: 'GstError'
  /**
   * Error domain of GStreamer, such as `gst-resource-error-quark`, which defines the meaning of
   * `code`.
   */
  domain: string
  code: number
  /**
   * Name of the element that failed; null if no element is involved, such as for an
   * invalid launch string.
   */
  source: string | null
  /** Details for developers: file, line and function in GStreamer. */
  debug: string | null
}

export function isGstError(error: unknown): error is GstError {
  return error instanceof Error && error.name === 'GstError'
}

/**
 * A message from the bus of a pipeline. `source` is the name of the element that has posted the
 * message.
 */
export type Message =
  | { type: 'error'; source: string; error: GstError }
  | { type: 'warning'; source: string; error: GstError }
  | { type: 'info'; source: string; error: GstError }
  /** All sinks have reached the end of the stream. Arrives after the last sample of each sink. */
  | { type: 'eos'; source: string }
  | { type: 'stream-start'; source: string }
  | { type: 'async-done'; source: string }
  /** The state of the pipeline has changed. State changes of single elements are not reported. */
  | { type: 'state-changed'; source: string; from: State; to: State; pending: State | null }
  | { type: 'buffering'; source: string; percent: number }
  /** The latency has changed. It has already been redistributed in the pipeline. */
  | { type: 'latency'; source: string }
  | { type: 'clock-lost'; source: string }
  | { type: 'element'; source: string; name: string; fields: Record<string, Value> }
