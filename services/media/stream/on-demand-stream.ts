import { EyrieError } from '@eyrie/contract'
import type { Clock } from '../runtime/clock.ts'
import { createStream, type Stream, type StreamWriter } from './live-stream.ts'

/** A live view that is produced only while it has viewers, such as one that must be transcoded. */
export interface OnDemandStream extends Stream {
  /** Returns whether the stream is being produced. */
  isRunning(): boolean
  waitUntilStarted(signal: AbortSignal): Promise<void>
  /** Stops the production and disconnects all viewers. */
  close(reason: string): Promise<void>
}

export interface OnDemandStreamOptions {
  epoch: number
  clock: Clock
  /** Called for the first viewer. From then on, packets must be written to `writer`. */
  start(writer: StreamWriter): void
  /** Called three seconds after the last viewer has left. */
  stop(): Promise<void>
  /** Called when a viewer has joined. */
  onViewerJoined?(): void
}

/** Time for which production continues without viewers, for clients that poll for pictures. */
const LINGER_MS = 3_000

export function createOnDemandStream(options: OnDemandStreamOptions): OnDemandStream {
  const { clock, onViewerJoined } = options
  const stream = createStream(options.epoch)
  let isRunning = false
  let viewerCount = 0
  /** Aborts the wait after which production stops. */
  let lingering = new AbortController()

  function addViewer() {
    viewerCount++
    lingering.abort()
    if (isRunning) return
    isRunning = true
    options.start(stream)
  }

  function removeViewer() {
    viewerCount--
    if (viewerCount > 0) return
    lingering = new AbortController()
    clock.sleep(LINGER_MS, lingering.signal).then(stop, () => {})
  }

  async function stop() {
    if (!isRunning) return
    isRunning = false
    await options.stop()
    // A viewer may have restarted the production meanwhile.
    if (!isRunning) stream.interrupt()
  }

  function watch(viewer: Parameters<Stream['watch']>[0]) {
    addViewer()
    const leave = stream.watch(viewer)
    onViewerJoined?.()

    let hasLeft = false
    return () => {
      leave()
      if (!hasLeft) removeViewer()
      hasLeft = true
    }
  }

  function waitUntilStarted(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    const leave = watch({
      begin: () => {},
      fragment: () => resolve(),
      backlog: () => 0,
      end: reason => reject(new EyrieError('unavailable', reason)),
    })
    return promise.finally(() => {
      signal.removeEventListener('abort', abort)
      leave()
    })
  }

  return {
    ...stream,
    watch,
    isRunning: () => isRunning,
    waitUntilStarted,
    async close(reason) {
      lingering.abort()
      stream.end(reason)
      await stop()
    },
  }
}
