import { isDeepStrictEqual } from 'node:util'
import type { SourceStatus } from '@eyrie/contract/media'
import type { SourcePlan } from '../plan/plan.ts'

/** A configured video source, such as a camera or a file, and its progress. */
export interface PlaylistEntry {
  readonly plan: SourcePlan
  /** Whether a file waits until its channels are ready to receive the first frame. */
  isHeld: boolean
  /**
   * The last status of a file that was played to its end; undefined before. The file
   * is not played again.
   */
  endStatus: SourceStatus | undefined
}

/**
 * Decides which of the configured sources the media service plays now. A file is played once: it
 * starts when the channels that analyse it are ready. All other sources are always played.
 */
export class Playlist {
  #entries = new Map<number, PlaylistEntry>()

  /** Replaces the sources. The progress of unchanged sources is retained. */
  apply(plans: readonly SourcePlan[]): void {
    const previous = this.#entries
    this.#entries = new Map(plans.map(plan => [plan.id, updateEntry(previous.get(plan.id), plan)]))
  }

  /** The files that wait for their channels. */
  get heldEntries(): PlaylistEntry[] {
    return [...this.#entries.values()].filter(({ isHeld }) => isHeld)
  }

  /** The sources that the media service should play now. */
  get activeSources(): SourcePlan[] {
    const active = [...this.#entries.values()].filter(
      ({ isHeld, endStatus }) => !isHeld && !endStatus,
    )
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

/**
 * Whether the progress of a source is still valid. A file that has ended remains the same source.
 * If `ended` is reset, the source has changed: the file is played again.
 */
function isUnchanged(before: SourcePlan, after: SourcePlan): boolean {
  if (before.ended && !after.ended) return false
  return isDeepStrictEqual({ ...before, ended: after.ended }, after)
}
