import { isDeepStrictEqual } from 'node:util'
import type { SourceStatus } from '@eyrie/contract/media'
import type { SourcePlan } from '../plan/plan.ts'

/** A planned source. */
export interface PlaylistEntry {
  readonly plan: SourcePlan
  /** A file is held until its channels are ready, so that they receive its first frame. */
  isHeld: boolean
  /** The last status of a file that has been played to its end. It is not played again. */
  endStatus: SourceStatus | undefined
}

/** Decides which of the planned sources media plays now. */
export class Playlist {
  #entries = new Map<number, PlaylistEntry>()

  /** Replaces the plans. Unchanged sources keep their progress. */
  apply(plans: readonly SourcePlan[]): void {
    const previous = this.#entries
    this.#entries = new Map(plans.map(plan => [plan.id, updateEntry(previous.get(plan.id), plan)]))
  }

  /** The entries that wait for their channels. */
  get heldEntries(): PlaylistEntry[] {
    return [...this.#entries.values()].filter(({ isHeld }) => isHeld)
  }

  /** The sources for media to play now. */
  get activeSources(): SourcePlan[] {
    const active = [...this.#entries.values()].filter(({ isHeld, endStatus }) => !isHeld && !endStatus)
    return active.map(({ plan }) => plan)
  }

  findEntry(source: number): PlaylistEntry | undefined {
    return this.#entries.get(source)
  }
}

function updateEntry(existing: PlaylistEntry | undefined, plan: SourcePlan): PlaylistEntry {
  if (existing && isUnchanged(existing.plan, plan)) return Object.assign(existing, { plan })
  return {
    plan,
    isHeld: plan.type === 'file',
    endStatus: plan.ended ? { id: plan.id, state: 'ended' } : undefined,
  }
}

/** Reaching its end does not change a source. Resetting `ended` does: the file is to be played again. */
function isUnchanged(before: SourcePlan, after: SourcePlan): boolean {
  if (before.ended && !after.ended) return false
  return isDeepStrictEqual({ ...before, ended: after.ended }, after)
}
