import { isDeepStrictEqual } from 'node:util'
import type { SourceStatus } from '@eyrie/contract/media'
import type { SourcePlan } from '../plan/plan.ts'

/** A source on the list. */
export interface PlaylistEntry {
  readonly plan: SourcePlan
  /** A file waits for its channels, so that they see its first frame. */
  held: boolean
  /** What media said last of a file that has been played to its end; it is not played again. */
  end: SourceStatus | undefined
}

/** Which of the planned sources media is to play now. */
export class Playlist {
  #entries = new Map<number, PlaylistEntry>()

  /** Takes over what has not changed; the rest is new, or to be played once more. */
  apply(plans: readonly SourcePlan[]): void {
    const entries = plans.map((plan): [number, PlaylistEntry] => {
      const before = this.#entries.get(plan.id)
      if (before && isSame(before.plan, plan)) return [plan.id, Object.assign(before, { plan })]
      const end = plan.ended ? ({ id: plan.id, state: 'ended' } as const) : undefined
      return [plan.id, { plan, held: plan.type === 'file', end }]
    })
    this.#entries = new Map(entries)
  }

  get held(): PlaylistEntry[] {
    return [...this.#entries.values()].filter(({ held }) => held)
  }

  get wanted(): SourcePlan[] {
    return [...this.#entries.values()].filter(({ held, end }) => !held && !end).map(({ plan }) => plan)
  }

  entry(source: number): PlaylistEntry | undefined {
    return this.#entries.get(source)
  }
}

/** Having ended is no change, but being planned anew after it is. */
function isSame(before: SourcePlan, after: SourcePlan): boolean {
  if (before.ended && !after.ended) return false
  return isDeepStrictEqual({ ...before, ended: after.ended }, after)
}
