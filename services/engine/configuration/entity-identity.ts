import type { Pipeline } from '@eyrie/contract'

/**
 * Assigns ids to the sources or sinks (entities) of a deployment, which replaces the stored
 * configuration. Entities with the same content share one id.
 */
export interface IdAssigner<Stored extends { id: number }> {
  /**
   * Returns the id of the stored entity with this content, so that it continues to run, or a new id
   * if there is none.
   */
  assign(content: Omit<Stored, 'id'>): number
  /** Lists all entities to which an id was assigned. */
  list(): Stored[]
  /** Returns the first id that is still free. */
  nextId(): number
}

export function createIdAssigner<Stored extends { id: number }>(
  stored: Stored[],
  firstFreeId: number,
): IdAssigner<Stored> {
  const storedByContent = new Map(stored.map(entity => [toContentKey(entity), entity]))
  /** The entities of the deployment by their content. */
  const assigned = new Map<string, Stored>()
  let nextId = firstFreeId
  return {
    assign: content => {
      const key = canonicalJson(content)
      const existing = assigned.get(key) ?? storedByContent.get(key)
      // TypeScript does not know that `Stored` is its own content together with an id.
      const entity = existing ?? ({ id: nextId++, ...content } as Stored)
      assigned.set(key, entity)
      return entity.id
    },
    list: () => [...assigned.values()],
    nextId: () => nextId,
  }
}

const toContentKey = ({ id: _, ...content }: { id: number }) => canonicalJson(content)

type PipelineContent = Omit<Pipeline, 'id'>

/**
 * Assigns ids to the pipelines of a deployment: the id of a stored pipeline with equal elements,
 * sources and sinks, or else of one with equal elements, or else a new id. Unlike sources, equal
 * pipelines have different ids. `nextId` is the first id that is still free.
 */
export function assignPipelineIds(
  deployed: PipelineContent[],
  stored: Pipeline[],
  firstFreeId: number,
): { pipelines: Pipeline[]; nextId: number } {
  const ids = new Map<PipelineContent, number>()

  // The first round assigns the exact matches, so that the second cannot assign their ids to
  // pipelines that match less.
  for (const toKey of [toConnectedKey, toElementsKey]) {
    const usedIds = new Set(ids.values())
    const unused = stored.filter(({ id }) => !usedIds.has(id))
    const unusedByKey = Map.groupBy(unused, toKey)
    for (const pipeline of deployed) {
      if (ids.has(pipeline)) continue
      const match = unusedByKey.get(toKey(pipeline))?.shift()
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
 * Encodes a value as JSON with sorted keys, so that equal values have equal texts. The package
 * `canonicalize` cannot be used: it throws on lone surrogates, which stored names may contain.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, nested: unknown) => sortKeys(nested))
}

function sortKeys(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
