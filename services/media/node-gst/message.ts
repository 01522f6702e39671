import type { State } from './pipeline.ts'
import type { Value } from './value.ts'

/** What GStreamer says went wrong, as thrown, as rejected with, and inside an `error` message. */
export interface GstError extends Error {
  name: 'GstError'
  /** GStreamer's quark, such as `gst-resource-error-quark`; together with `code` it says what kind of failure. */
  domain: string
  code: number
  /** Name of the element that failed; null when no element did (a launch string that does not parse). */
  source: string | null
  /** GStreamer's note for developers: file, line, function, details. */
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
  /** Every sink has seen the end; comes after the last sample of every stream has been handed over. */
  | { type: 'eos'; source: string }
  | { type: 'stream-start'; source: string }
  | { type: 'async-done'; source: string }
  /** Of the pipeline only, not of its elements. */
  | { type: 'state-changed'; source: string; from: State; to: State; pending: State | null }
  | { type: 'buffering'; source: string; percent: number }
  /** The pipeline's latency has already been redistributed when this arrives. */
  | { type: 'latency'; source: string }
  | { type: 'clock-lost'; source: string }
  | { type: 'element'; source: string; name: string; fields: Record<string, Value> }
