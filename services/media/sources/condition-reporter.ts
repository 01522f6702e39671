import type { MessageFromMedia } from '@eyrie/contract'
import type { Log } from '@eyrie/kit'
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
  log: Log
}

const INTERVAL_MS = 5000

/** How many packets each source had received at a time. A packet contains one frame. */
interface PacketCounts {
  /** When the counts were read, by the monotonic clock. */
  readAtMs: number
  bySource: ReadonlyMap<number, number>
}

/**
 * Regularly reports the condition of each source: its frame rate, its recording and the statistics
 * of its pictures. Management uses them to recognize a source that has failed although it is
 * connected.
 */
export function createConditionReporter(options: ConditionReporterOptions): { stop(): void } {
  const { sources, recordings, clock, onCondition, log } = options
  const stopping = new AbortController()

  function countPackets(): PacketCounts {
    const counts = sources().map(source => [source.status().id, source.stats().packets] as const)
    return { readAtMs: clock.now(), bySource: new Map(counts) }
  }

  function report(previous: PacketCounts, latest: PacketCounts) {
    const recordingStates = recordings()
    for (const source of sources()) {
      const { id } = source.status()
      const recording = recordingStates.get(id)
      const picture = source.pictureStatistics()
      onCondition({
        type: 'condition',
        source: id,
        received_fps: calculateFps(id, previous, latest),
        ...(recording && { recording }),
        ...(picture && { picture }),
      })
    }
  }

  async function reportUntilStopped() {
    let previous = countPackets()
    while (true) {
      await clock.sleep(INTERVAL_MS, stopping.signal)
      const latest = countPackets()
      report(previous, latest)
      previous = latest
    }
  }

  // As with the costs, a failure ends the reports for good. Sources do not depend on them.
  reportUntilStopped().catch(error => {
    if (!stopping.signal.aborted) log.warn({ err: error }, 'failed to report condition of sources')
  })
  return { stop: () => stopping.abort() }
}

/**
 * Returns the frames that a source has received per second between two readings, rounded to
 * tenths; 0 for a new source.
 */
function calculateFps(sourceId: number, previous: PacketCounts, latest: PacketCounts): number {
  const count = latest.bySource.get(sourceId) ?? 0
  const received = count - (previous.bySource.get(sourceId) ?? count)
  const elapsedS = (latest.readAtMs - previous.readAtMs) / 1000
  const fps = Math.round((received * 10) / elapsedS) / 10
  // The count of a source that was replaced begins at 0 again, so the difference may be negative.
  return Math.max(0, fps)
}
