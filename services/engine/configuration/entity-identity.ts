import type { Pipeline } from '@eyrie/contract'

/** Assigns ids to objects: the id of an equal stored object, or a new one. Equal objects get the same id. */
export function createIdAssigner<Stored extends { id: number }>(stored: Stored[], firstFreeId: number) {
  const storedByContent = new Map(stored.map(item => [toContentKey(item), item]))
  const assigned = new Map<string, Stored>()
  let nextId = firstFreeId
  return {
    assign: (content: Omit<Stored, 'id'>): number => {
      const key = canonicalJson(content)
      const item = assigned.get(key) ?? storedByContent.get(key) ?? ({ id: nextId++, ...content } as Stored)
      assigned.set(key, item)
      return item.id
    },
    all: () => [...assigned.values()],
    nextId: () => nextId,
  }
}

const toContentKey = ({ id: _, ...content }: { id: number }) => canonicalJson(content)

type PipelineContent = Omit<Pipeline, 'id'>

/**
 * Assigns ids to pipelines. In contrast to sources, equal pipelines get different ids. A pipeline keeps the id of a
 * stored one with equal elements, sources and sinks, or else of one with equal elements.
 */
export function assignPipelineIds(deployed: PipelineContent[], stored: Pipeline[], firstFreeId: number) {
  const ids = new Map<PipelineContent, number>()
  for (const toKey of [toConnectedKey, toElementsKey]) {
    const usedIds = new Set(ids.values())
    const candidates = Map.groupBy(
      stored.filter(({ id }) => !usedIds.has(id)),
      toKey,
    )
    for (const pipeline of deployed) {
      if (ids.has(pipeline)) continue
      const match = candidates.get(toKey(pipeline))?.shift()
      if (match) ids.set(pipeline, match.id)
    }
  }
  let nextId = firstFreeId
  const pipelines = deployed.map(pipeline => ({ id: ids.get(pipeline) ?? nextId++, ...pipeline }))
  return { pipelines, nextId }
}

const toConnectedKey = ({ elements, sources, sinks }: PipelineContent) =>
  canonicalJson({ elements, sources, sinks })
const toElementsKey = ({ elements }: PipelineContent) => canonicalJson(elements)

/**
 * JSON text with sorted keys: equal values have equal texts. The package `canonicalize` cannot be used, because it throws
 * on lone surrogates, which stored names may contain.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
