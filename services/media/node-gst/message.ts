import type { State } from './pipeline.ts'
import type { Value } from './value.ts'

/** An error of GStreamer, as thrown, as a rejection, or in an `error` message. */
export interface GstError extends Error {
  name: 'GstError'
  /** GStreamer's error domain, such as `gst-resource-error-quark`, which defines the `code`. */
  domain: string
  code: number
  /** Name of the element that failed; null if none did, such as for an invalid launch string. */
  source: string | null
  /** GStreamer's information for developers: file, line, function, details. */
  debug: string | null
}

export function isGstError(error: unknown): error is GstError {
  return error instanceof Error && error.name === 'GstError'
}

/** A bus message. `source` is the name of the element that posted it. */
export type Message =
  | { type: 'error'; source: string; error: GstError }
  | { type: 'warning'; source: string; error: GstError }
  | { type: 'info'; source: string; error: GstError }
  /** All sinks have reached the end. Arrives after the last sample of every stream. */
  | { type: 'eos'; source: string }
  | { type: 'stream-start'; source: string }
  | { type: 'async-done'; source: string }
  /** For the pipeline only, not for its elements. */
  | { type: 'state-changed'; source: string; from: State; to: State; pending: State | null }
  | { type: 'buffering'; source: string; percent: number }
  /** The pipeline's latency has already been redistributed. */
  | { type: 'latency'; source: string }
  | { type: 'clock-lost'; source: string }
  | { type: 'element'; source: string; name: string; fields: Record<string, Value> }
