import type { AccessUnit } from './fmp4.ts'

type NumberedUnit = AccessUnit & { sequence: number }

/**
 * The units that a viewer of a stream can still receive: the current group of pictures, which are
 * the units since the last keyframe, and the newest unit.
 */
export interface UnitCache<Unit extends NumberedUnit> {
  /** Adds the next unit. Sequence numbers must be consecutive. */
  add(unit: Unit): void
  /** Returns the unit with this sequence number if it is still available. */
  find(sequence: number): Unit | undefined
  /** Returns the current group of pictures, beginning with its keyframe, in decoding order. */
  units(): readonly Unit[]
  /** Removes all units. The next group of pictures begins with the next keyframe. */
  clear(): void
}

/** A group of pictures of more than `maxBytes` is not cached, except for the newest unit. */
export function createUnitCache<Unit extends NumberedUnit>(maxBytes: number): UnitCache<Unit> {
  let group: Unit[] = []
  let groupBytes = 0
  let newest: Unit | undefined

  function clearGroup() {
    group = []
    groupBytes = 0
  }

  return {
    add(unit) {
      newest = unit
      if (unit.keyframe) clearGroup()
      else if (group.length === 0) return

      groupBytes += unit.data.length
      if (groupBytes > maxBytes) clearGroup()
      else group.push(unit)
    },

    find(sequence) {
      if (newest?.sequence === sequence) return newest
      // The numbers are consecutive, so the position of a unit in the group follows from them.
      const firstSequence = group[0]?.sequence ?? 0
      return group[sequence - firstSequence]
    },

    units: () => group,

    clear() {
      clearGroup()
      newest = undefined
    },
  }
}
