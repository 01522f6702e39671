import type { Pipeline } from '@eyrie/contract'

/** Gives each object the id of an equal one that is there, or a new one; equal objects get the same. */
export function identify<Stored extends { id: number }>(present: Stored[], firstFree: number) {
  const free = new Map(present.map(stored => [canonical(withoutId(stored)), stored]))
  const taken = new Map<string, Stored>()
  let next = firstFree
  return {
    idOf: (wanted: Omit<Stored, 'id'>): number => {
      const key = canonical(wanted)
      const known = taken.get(key) ?? free.get(key) ?? ({ id: next++, ...wanted } as Stored)
      taken.set(key, known)
      return known.id
    },
    all: () => [...taken.values()],
    next: () => next,
  }
}

/** As for sources, but equal pipelines stay two; one with other sources or sinks is still the same by its elements. */
export function identifyPipelines(wanted: Omit<Pipeline, 'id'>[], present: Pipeline[], firstFree: number) {
  const ids = new Map<Omit<Pipeline, 'id'>, number>()
  for (const likeness of [whole, byElements]) {
    const taken = new Set(ids.values())
    const free = Map.groupBy(
      present.filter(({ id }) => !taken.has(id)),
      likeness,
    )
    for (const pipeline of wanted.filter(pipeline => !ids.has(pipeline))) {
      const same = free.get(likeness(pipeline))?.shift()
      if (same) ids.set(pipeline, same.id)
    }
  }
  let next = firstFree
  const all = wanted.map(pipeline => ({ id: ids.get(pipeline) ?? next++, ...pipeline }))
  return { all, next }
}

const whole = ({ elements, sources, sinks }: Omit<Pipeline, 'id'>) => canonical({ elements, sources, sinks })
const byElements = ({ elements }: Omit<Pipeline, 'id'>) => canonical(elements)

function withoutId<Stored extends { id: number }>({ id: _, ...rest }: Stored): Omit<Stored, 'id'> {
  return rest
}

/** JSON text with sorted keys: equal values have equal texts. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
