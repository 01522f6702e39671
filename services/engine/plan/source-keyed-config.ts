/**
 * The configuration of an element (a step of a pipeline) that is keyed by source. Each key lists
 * source ids, such as `1` or `1,2`. Its entry holds the config for these sources, including
 * shapes such as lines.
 */
type SourceKeyedConfig = Record<string, unknown>

/** Returns the error message for a key that is no list of source ids. */
export const describeInvalidSourceKey = (key: string) =>
  `"${key}" does not name a source: the keys of this config are numbers of sources, such as "1", or several, such as "1,2"`

const SOURCE_ID = /^\d{1,10}$/

/** Parses the source ids of a key such as `1,2`. Returns undefined if the key is malformed. */
export function parseSourceKey(key: string): number[] | undefined {
  const ids = splitSourceKey(key)
  return ids.every(id => SOURCE_ID.test(id)) ? ids.map(Number) : undefined
}

/** Selects the entries that apply to a source. */
export function selectSourceConfig(config: SourceKeyedConfig, sourceId: number): SourceKeyedConfig {
  const includesSource = (key: string) => splitSourceKey(key).some(id => Number(id) === sourceId)
  return Object.fromEntries(Object.entries(config).filter(([key]) => includesSource(key)))
}

export interface DuplicateShape {
  /** JSON pointer to the name of the second shape. */
  pointer: string
  name: string
  sourceId: number
}

/**
 * Finds two shapes of the same source with the same name. The schema prevents this within one
 * entry, but a source can occur in several keys, such as `1` and `1,2`.
 */
export function findDuplicateShape(config: SourceKeyedConfig): DuplicateShape | undefined {
  const knownShapes = new Set<string>()
  for (const [key, entry] of Object.entries(config)) {
    const sourceIds = splitSourceKey(key).map(Number)
    for (const { pointer, name } of listShapeNames(entry)) {
      for (const sourceId of sourceIds) {
        const shapeId = JSON.stringify([sourceId, name])
        if (knownShapes.has(shapeId)) return { pointer: `/${key}${pointer}`, name, sourceId }
        knownShapes.add(shapeId)
      }
    }
  }
  return undefined
}

function splitSourceKey(key: string): string[] {
  return key.split(',').map(id => id.trim())
}

/**
 * Lists the names of all shapes in the lists of an entry, such as `lines`. List items without a
 * name are not shapes.
 */
function listShapeNames(entry: unknown): { pointer: string; name: string }[] {
  const names: { pointer: string; name: string }[] = []
  for (const [list, shapes] of Object.entries(entry ?? {})) {
    if (!Array.isArray(shapes)) continue
    for (const [index, shape] of shapes.entries()) {
      if (typeof shape?.name !== 'string') continue
      names.push({ pointer: `/${list}/${index}/name`, name: shape.name })
    }
  }
  return names
}
