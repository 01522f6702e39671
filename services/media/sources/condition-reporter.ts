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

/** Reports every five seconds what management must know to notice that a source has failed although it is connected. */
export function createConditionReporter(options: ConditionReporterOptions): { stop(): void } {
  const { sources, recordings, clock, onCondition } = options
  const stopping = new AbortController()
  let previous = { atMs: clock.now(), packets: new Map<number, number>() }

  function report() {
    const states = recordings()
    const current = { atMs: clock.now(), packets: new Map<number, number>() }
    const elapsedS = (current.atMs - previous.atMs) / 1000
    for (const source of sources()) {
      const { id } = source.status()
      const { packets } = source.stats()
      current.packets.set(id, packets)
      const recording = states.get(id)
      const picture = source.pictureStatistics()
      const received = packets - (previous.packets.get(id) ?? packets)
      onCondition({
        type: 'condition',
        source: id,
        // A source that was replaced counts from 0 again.
        received_fps: Math.max(0, Math.round((received * 10) / elapsedS) / 10),
        ...(recording && { recording }),
        ...(picture && { picture }),
      })
    }
    previous = current
  }

  async function reportUntilStopped() {
    for (;;) {
      await clock.sleep(INTERVAL_MS, stopping.signal)
      report()
    }
  }

  // Ends only when it is stopped.
  reportUntilStopped().catch(() => {})
  return { stop: () => stopping.abort() }
}
