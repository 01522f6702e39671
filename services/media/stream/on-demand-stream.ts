import { EyrieError } from '@eyrie/contract'
import type { Clock } from '../runtime/clock.ts'
import { createStream, type Stream, type StreamWriter } from './live-stream.ts'

/**
 * A live view that is produced only while it has viewers or readers, such as one
 * that must be transcoded.
 */
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
  /** Called for the first viewer or reader. From then on, packets must be written to `writer`. */
  start(writer: StreamWriter): void
  /** Called three seconds after the last viewer or reader has left. */
  stop(): Promise<void>
  /** Called when a viewer or reader has joined. */
  onViewerJoined?(): void
}

/**
 * Time for which production continues without viewers, for clients that return to poll for
 * pictures.
 */
const LINGER_MS = 3_000

export function createOnDemandStream(options: OnDemandStreamOptions): OnDemandStream {
  const { clock, onViewerJoined } = options
  const stream = createStream(options.epoch)
  let isRunning = false
  /** Number of viewers and readers. */
  let clientCount = 0
  /** Aborts the wait after which production stops. */
  let lingering = new AbortController()

  function addClient() {
    clientCount++
    lingering.abort()
    if (isRunning) return
    isRunning = true
    options.start(stream)
  }

  function removeClient() {
    clientCount--
    if (clientCount > 0) return
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

  /** Produces the stream for a client, until the returned function is called. */
  function join(add: () => () => void): () => void {
    addClient()
    const leave = add()
    onViewerJoined?.()

    let hasLeft = false
    return () => {
      leave()
      if (!hasLeft) removeClient()
      hasLeft = true
    }
  }

  const watch: Stream['watch'] = viewer => join(() => stream.watch(viewer))

  return {
    ...stream,
    watch,
    follow: reader => join(() => stream.follow(reader)),
    isRunning: () => isRunning,
    waitUntilStarted: signal => waitForFragment(watch, signal),
    async close(reason) {
      lingering.abort()
      stream.end(reason)
      await stop()
    },
  }
}

/** Watches a stream until its first fragment. */
function waitForFragment(watch: Stream['watch'], signal: AbortSignal): Promise<void> {
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
