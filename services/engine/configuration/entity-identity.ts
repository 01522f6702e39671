import type { Pipeline } from '@eyrie/contract'

/**
 * Assigns ids to the sources or sinks of a deployment, which replaces the stored configuration. An object that equals a
 * stored one gets its id, so that it continues to run; any other gets a new id. Equal objects have the same id.
 */
export function createIdAssigner<Stored extends { id: number }>(stored: Stored[], firstFreeId: number) {
  const storedByContent = new Map(stored.map(entity => [toContentKey(entity), entity]))
  /** The objects of the deployment by their content. */
  const assigned = new Map<string, Stored>()
  let nextId = firstFreeId
  return {
    assign: (content: Omit<Stored, 'id'>): number => {
      const key = canonicalJson(content)
      let entity = assigned.get(key) ?? storedByContent.get(key)
      if (!entity) {
        entity = { id: nextId, ...content } as Stored
        nextId += 1
      }
      assigned.set(key, entity)
      return entity.id
    },
    /** Returns all objects to which an id was assigned, with their ids. */
    list: () => [...assigned.values()],
    /** Returns the first id that is still free. */
    nextId: () => nextId,
  }
}

const toContentKey = ({ id: _, ...content }: { id: number }) => canonicalJson(content)

type PipelineContent = Omit<Pipeline, 'id'>

/**
 * Assigns ids to the pipelines of a deployment. Unlike sources, equal pipelines have different ids. A pipeline gets the id
 * of a stored pipeline with equal elements, sources and sinks, or else of one with equal elements, or else a new id.
 */
export function assignPipelineIds(deployed: PipelineContent[], stored: Pipeline[], firstFreeId: number) {
  const ids = new Map<PipelineContent, number>()

  // The better match has precedence for all pipelines, so there is one round for each way of matching.
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
 * Encodes a value as JSON with sorted keys, so that equal values have equal texts. The package `canonicalize` cannot be
 * used: it throws on lone surrogates, which stored names may contain.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, nested: unknown) => sortKeys(nested))
}

function sortKeys(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
