/** A condition that depends on time alone, such as a schedule. Times are epoch ms. */
export interface Timeline {
  holdsAt(instant: number): boolean
  /**
   * The first time after `instant` at which the condition changes. Undefined if no
   * change is foreseeable.
   */
  nextChange(instant: number): number | undefined
}

/**
 * Bounds the search for the next change of a combined condition, because its parts may change
 * forever without changing it. After this many changes of parts, it is considered constant.
 */
const MAX_PART_CHANGES = 1_000
/** The next change of a condition that never changes. */
const NEVER = Number.POSITIVE_INFINITY

/**
 * Creates the timeline of a condition that changes only when one of its parts does. `holdsAt`
 * returns whether it holds.
 */
export function combineTimelines(
  parts: readonly Timeline[],
  holdsAt: (instant: number) => boolean,
): Timeline {
  return {
    holdsAt,
    nextChange(instant) {
      const current = holdsAt(instant)
      const upcoming = parts.map(part => ({ part, change: part.nextChange(instant) ?? NEVER }))
      for (let count = 0; count < MAX_PART_CHANGES; count += 1) {
        const earliest = Math.min(...upcoming.map(({ change }) => change))
        if (earliest === NEVER) return undefined
        if (holdsAt(earliest) !== current) return earliest
        for (const entry of upcoming) {
          if (entry.change <= earliest) entry.change = entry.part.nextChange(earliest) ?? NEVER
        }
      }
      return undefined
    },
  }
}

/** Creates the timeline of a condition that holds while any of its parts does. */
export const unionTimelines = (parts: readonly Timeline[]): Timeline =>
  combineTimelines(parts, instant => parts.some(part => part.holdsAt(instant)))

/** A period of time. The end is exclusive. */
export interface Period {
  start: number
  end: number
}

/** Creates the timeline of a condition that holds during these periods, which may overlap. */
export function createPeriodTimeline(periods: readonly Period[]): Timeline {
  const merged: Period[] = []
  const valid = periods
    .filter(({ start, end }) => start < end)
    .toSorted((a, b) => a.start - b.start)
  for (const { start, end } of valid) {
    const last = merged.at(-1)
    if (last && start <= last.end) last.end = Math.max(last.end, end)
    else merged.push({ start, end })
  }

  /** Returns the first period that ends after `instant`, by bisection. */
  function findPeriod(instant: number): Period | undefined {
    let from = 0
    let to = merged.length
    while (from < to) {
      const middle = (from + to) >> 1
      if (merged[middle]!.end > instant) to = middle
      else from = middle + 1
    }
    return merged[from]
  }

  return {
    holdsAt(instant) {
      const period = findPeriod(instant)
      return period !== undefined && period.start <= instant
    },
    nextChange(instant) {
      const period = findPeriod(instant)
      if (!period) return undefined
      const change = period.start > instant ? period.start : period.end
      return change === NEVER ? undefined : change
    },
  }
}
