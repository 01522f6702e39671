import type { MessageFromMedia } from '@eyrie/contract'
import type { Log } from '@eyrie/kit'
import {
  attributeTimes,
  readThreads,
  type SourceTime,
  type ThreadTime,
} from '../decode/thread-times.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Source } from './source.ts'

export interface CostMeterOptions {
  /** Returns the current sources. */
  sources(): readonly Source[]
  clock: Clock
  onCost(cost: Cost): void
  log: Log
}

type Cost = Extract<MessageFromMedia, { type: 'cost' }>
type SourceCounts = ReturnType<Source['stats']>

/** CPU times and packet counts at one moment. */
interface Reading {
  /** Monotonic time. */
  readAtMs: number
  threads: ThreadTime[]
  counts: Map<number, SourceCounts>
}

const INTERVAL_MS = 5000

/**
 * Measures every five seconds how much CPU time the decoding and scaling of a frame costs, for each
 * source. Sources that were not decoded throughout the interval are not reported.
 */
export function createCostMeter({ sources, clock, onCost, log }: CostMeterOptions): {
  stop(): void
} {
  const stopping = new AbortController()

  async function read(): Promise<Reading> {
    const threads = await readThreads()
    const counts = new Map(sources().map(source => [source.status().id, source.stats()]))
    return { readAtMs: clock.now(), threads, counts }
  }

  async function measureUntilStopped() {
    let before = await read()
    for (;;) {
      await clock.sleep(INTERVAL_MS, stopping.signal)
      const after = await read()
      const times = attributeTimes(before.threads, after.threads)
      const elapsedMs = after.readAtMs - before.readAtMs

      for (const [source, counts] of after.counts) {
        const cost = calculateCost(before.counts.get(source), counts, times.get(source), elapsedMs)
        if (cost) onCost({ type: 'cost', source, ...cost })
      }

      before = after
    }
  }

  // A failed reading stops the meter for good. Sources do not depend on it: only their costs
  // are no longer reported.
  measureUntilStopped().catch(error => {
    if (!stopping.signal.aborted) log.warn({ err: error }, 'failed to measure cost of sources')
  })
  return { stop: () => stopping.abort() }
}

/**
 * Returns the cost per frame, or undefined if the source was not decoded throughout the interval.
 */
export function calculateCost(
  before: SourceCounts | undefined,
  after: SourceCounts,
  time: SourceTime | undefined,
  elapsedMs: number,
): Omit<Cost, 'type' | 'source'> | undefined {
  const wasDecoded = before?.hasReaders && after.hasReaders
  if (!wasDecoded || !time) return undefined

  const frames = after.packets - before.packets
  const written = after.written - before.written
  if (frames <= 0) return undefined

  return {
    fps: (frames * 1000) / elapsedMs,
    decode_ms: time.decodeMs / frames,
    ...(written > 0 && { scale_ms: time.scaleMs / written }),
  }
}
