import { EyrieError } from '@eyrie/contract'
import type { Clock } from '../runtime/clock.ts'
import { createStream, type Stream, type StreamWriter } from './live-stream.ts'

/** A stream that is produced only while it has viewers. */
export interface OnDemandStream extends Stream {
  isRunning(): boolean
  waitUntilStarted(signal: AbortSignal): Promise<void>
  /** Ends the stream for all viewers. */
  close(reason: string): Promise<void>
}

export interface OnDemandStreamOptions {
  epoch: number
  clock: Clock
  /** Called for the first viewer: packets must go to the writer from now on. */
  start(writer: StreamWriter): void
  /** Called when the last viewer has been gone for three seconds. */
  stop(): Promise<void>
  /** Called for every viewer. */
  onViewerJoined?(): void
}

/** How long production continues without viewers, such as between two requests of a client that polls for pictures. */
const LINGER_MS = 3_000

export function createOnDemandStream(options: OnDemandStreamOptions): OnDemandStream {
  const { clock, onViewerJoined } = options
  const stream = createStream(options.epoch)
  let isRunning = false
  let viewers = 0
  let lingering = new AbortController()

  function addViewer() {
    viewers++
    lingering.abort()
    if (isRunning) return
    isRunning = true
    options.start(stream)
  }

  function removeViewer() {
    viewers--
    if (viewers > 0) return
    lingering = new AbortController()
    clock.sleep(LINGER_MS, lingering.signal).then(stop, () => {})
  }

  async function stop() {
    if (!isRunning) return
    isRunning = false
    await options.stop()
    // A viewer may have started it again meanwhile.
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
