import type { MessageFromMedia } from '@eyrie/contract'
import type { Clock } from '../runtime/clock.ts'
import type { Source } from './source.ts'

type Condition = Extract<MessageFromMedia, { type: 'condition' }>

export interface ConditionReporterOptions {
  /** Returns the current sources. */
  sources(): readonly Source[]
  /** Returns the states of the recordings, by source. */
  recordings(): ReadonlyMap<number, Condition['recording']>
  clock: Clock
  onCondition(condition: Condition): void
}

const INTERVAL_MS = 5000

/** The number of packets that each source has received so far. */
interface PacketCounts {
  /** Monotonic time. */
  readAtMs: number
  bySource: ReadonlyMap<number, number>
}

/**
 * Reports the condition of each source every five seconds: frame rate, recording and picture
 * statistics. From these, management recognizes a source that has failed although it is connected.
 */
export function createConditionReporter(options: ConditionReporterOptions): { stop(): void } {
  const { sources, recordings, clock, onCondition } = options
  const stopping = new AbortController()

  function countPackets(): PacketCounts {
    const counts = sources().map(source => [source.status().id, source.stats().packets] as const)
    return { readAtMs: clock.now(), bySource: new Map(counts) }
  }

  function report(before: PacketCounts, now: PacketCounts) {
    const recordingStates = recordings()
    for (const source of sources()) {
      const { id } = source.status()
      const recording = recordingStates.get(id)
      const picture = source.pictureStatistics()
      onCondition({
        type: 'condition',
        source: id,
        received_fps: calculateFps(id, before, now),
        ...(recording && { recording }),
        ...(picture && { picture }),
      })
    }
  }

  async function reportUntilStopped() {
    let before = countPackets()
    for (;;) {
      await clock.sleep(INTERVAL_MS, stopping.signal)
      const now = countPackets()
      report(before, now)
      before = now
    }
  }

  // Rejects only when it is stopped.
  reportUntilStopped().catch(() => {})
  return { stop: () => stopping.abort() }
}

/**
 * Returns the frames that a source has received per second between two readings, rounded to
 * tenths; 0 for a new source.
 */
function calculateFps(source: number, before: PacketCounts, now: PacketCounts): number {
  const packets = now.bySource.get(source) ?? 0
  const received = packets - (before.bySource.get(source) ?? packets)
  const elapsedS = (now.readAtMs - before.readAtMs) / 1000
  // The count of a source that was replaced begins at 0 again, so the difference may be negative.
  return Math.max(0, Math.round((received * 10) / elapsedS) / 10)
}
