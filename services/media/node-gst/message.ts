import type { State } from './pipeline.ts'
import type { Value } from './value.ts'

/** An error of GStreamer. Methods throw it or reject with it, and `error` messages contain it. */
export interface GstError extends Error {
  name: 'GstError'
  /**
   * Error domain of GStreamer, such as `gst-resource-error-quark`, which defines the meaning of
   * `code`; see also `isCallbackError`.
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

/** `domain` of the errors that report an exception. */
const CALLBACK_ERROR = 'callback-error'

/**
 * Creates the error that reports an exception of a callback. `source` is the name of the appsink
 * whose reader has thrown; null if it was the handler of messages.
 */
export function createCallbackError(source: string | null, cause: unknown): GstError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return Object.assign(new Error(`its data cannot be processed: ${reason}`, { cause }), {
    ...{ name: 'GstError' as const, domain: CALLBACK_ERROR, code: 0, source, debug: null },
  })
}

/** Whether an error reports an exception of a callback, which is its cause. */
export const isCallbackError = ({ domain }: GstError): boolean => domain === CALLBACK_ERROR

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
