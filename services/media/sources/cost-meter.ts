import type { MessageFromMedia } from '@eyrie/contract'
import type { Log } from '@eyrie/kit'
import { attributeTimes, readThreads, type SourceTime, type ThreadTime } from '../decode/thread-times.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Source } from './source.ts'

export interface CostMeterOptions {
  sources(): readonly Source[]
  clock: Clock
  onCost(cost: Cost): void
  log: Log
}

type Cost = Extract<MessageFromMedia, { type: 'cost' }>
type SourceCounts = ReturnType<Source['stats']>

/** Counters at one moment. */
interface Reading {
  /** Monotonic time, in ms. */
  at: number
  threads: ThreadTime[]
  counts: Map<number, SourceCounts>
}

const INTERVAL_MS = 5000

/** Reports, every five seconds, the CPU time per frame of each source that was decoded throughout the interval. */
export function createCostMeter({ sources, clock, onCost, log }: CostMeterOptions): { stop(): void } {
  const stopping = new AbortController()

  async function read(): Promise<Reading> {
    const threads = await readThreads()
    const counts = new Map(sources().map(source => [source.status().id, source.stats()]))
    return { at: clock.now(), threads, counts }
  }

  async function measure() {
    let before = await read()
    for (;;) {
      await clock.sleep(INTERVAL_MS, stopping.signal)
      const now = await read()
      const times = attributeTimes(before.threads, now.threads)
      for (const [source, counts] of now.counts) {
        const cost = calculateCost(before.counts.get(source), counts, times.get(source), now.at - before.at)
        if (cost) onCost({ type: 'cost', source, ...cost })
      }
      before = now
    }
  }

  measure().catch(error => {
    if (!stopping.signal.aborted) log.warn({ err: error }, 'failed to measure cost of sources')
  })
  return { stop: () => stopping.abort() }
}

/** Returns the cost per frame, or undefined if the source was not decoded throughout the interval. */
export function calculateCost(
  before: SourceCounts | undefined,
  now: SourceCounts,
  time: SourceTime | undefined,
  elapsedMs: number,
): Omit<Cost, 'type' | 'source'> | undefined {
  const frames = now.packets - (before?.packets ?? 0)
  const written = now.written - (before?.written ?? 0)
  if (!before?.hasReaders || !now.hasReaders || !time || frames <= 0) return undefined
  return {
    fps: (frames * 1000) / elapsedMs,
    decode_ms: time.decodeMs / frames,
    ...(written > 0 && { scale_ms: time.scaleMs / written }),
  }
}
