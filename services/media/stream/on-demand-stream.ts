import { EyrieError } from '@eyrie/contract'
import type { Clock } from '../runtime/clock.ts'
import { createStream, type Stream, type StreamWriter } from './live-stream.ts'

/** A stream that is made only while somebody watches. */
export interface OnDemandStream extends Stream {
  /** Whether it is being made. */
  watched(): boolean
  /** Rejects with EyrieError `unavailable` where it comes to an end instead, and with the signal's reason. */
  begun(signal: AbortSignal): Promise<void>
  /** Nobody can watch any more. */
  close(reason: string): Promise<void>
}

export interface OnDemandStreamOptions {
  epoch: number
  clock: Clock
  /** Somebody watches: packets are to go into the writer. */
  begin(writer: StreamWriter): void
  /** Nobody has watched for a while. */
  end(): Promise<void>
  /** There is one viewer more. */
  onViewer?(): void
}

/** So long it goes on for those who come back, such as one who polls for pictures. */
const LINGER_MS = 3_000

export function createOnDemandStream({
  epoch,
  clock,
  begin,
  end,
  onViewer,
}: OnDemandStreamOptions): OnDemandStream {
  const plain = createStream(epoch)
  let made = false
  let watchers = 0
  let lingering = new AbortController()

  function enter() {
    watchers++
    lingering.abort()
    if (made) return
    made = true
    begin(plain)
  }

  function leave() {
    if (--watchers > 0) return
    lingering = new AbortController()
    clock.sleep(LINGER_MS, lingering.signal).then(stop, () => {})
  }

  async function stop() {
    if (!made) return
    made = false
    await end()
    if (!made) plain.interrupt()
  }

  const stream: OnDemandStream = {
    ...plain,
    watch(viewer) {
      enter()
      const part = plain.watch(viewer)
      onViewer?.()
      let here = true
      return () => {
        part()
        if (here) leave()
        here = false
      }
    },
    watched: () => made,
    begun: signal =>
      new Promise((resolve, reject) => {
        let part = () => {}
        const settle = (how: () => void) => {
          how()
          queueMicrotask(() => part())
        }
        signal.addEventListener('abort', () => settle(() => reject(signal.reason)), { once: true })
        part = stream.watch({
          begin: () => {},
          fragment: () => settle(resolve),
          backlog: () => 0,
          end: reason => settle(() => reject(new EyrieError('unavailable', reason))),
        })
      }),
    async close(reason) {
      lingering.abort()
      plain.end(reason)
      await stop()
    },
  }
  return stream
}
