import type { PipelineElement } from '@eyrie/contract'

// The configuration of a pipeline element may depend on the source. Its keys are then source ids:
// `<uuid>`, or several ids separated by commas.

const UUID = '[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}'
const SOURCE_KEY = new RegExp(`^\\s*${UUID}\\s*(?:,\\s*${UUID}\\s*)*$`, 'i')
const KEYS_RULE =
  'the keys of this config are ids of sources, as /source/list returns them, several separated by commas'

const isSourceKey = (key: string) => SOURCE_KEY.test(key)
const parseSourceIds = (key: string) => key.split(',').map(id => id.trim().toLowerCase())

/** Returns the ids of all sources that the configurations of elements refer to. */
export function findReferencedSources(elements: readonly PipelineElement[]): string[] {
  const keys = elements.flatMap(({ config = {} }) => Object.keys(config))
  return [...new Set(keys.filter(isSourceKey).flatMap(parseSourceIds))]
}

/** An invalid key of the configuration of an element. */
interface InvalidKey {
  /** Position of the element. */
  index: number
  reason: string
}

/**
 * Returns the keys that an engine would reject. `isKeyedBySource` returns whether the
 * configuration of an element depends on the source, or undefined for an element that the engine's
 * catalog does not contain.
 */
export function findInvalidKeys(
  elements: readonly PipelineElement[],
  isKeyedBySource: (element: string) => boolean | undefined,
): InvalidKey[] {
  return elements.flatMap(({ name, config = {} }, index) => {
    const keys = Object.keys(config)
    const reasons = isKeyedBySource(name)
      ? describeInvalidSourceKeys(keys)
      : describeEmptyKeys(keys)
    return reasons.map(reason => ({ index, reason }))
  })
}

function describeInvalidSourceKeys(keys: readonly string[]): string[] {
  const invalid = keys.filter(key => !isSourceKey(key))
  const idCounts = new Map<string, number>()
  for (const id of keys.filter(isSourceKey).flatMap(parseSourceIds)) {
    idCounts.set(id, (idCounts.get(id) ?? 0) + 1)
  }
  const repeated = [...idCounts].filter(([, count]) => count > 1).map(([id]) => id)
  return [
    ...invalid.map(key => `"${key}" does not name a source: ${KEYS_RULE}`),
    ...repeated.map(id => `source ${id} appears more than once: name each source in one key only`),
  ]
}

/**
 * No element has a setting without a name, so an empty key is a mistake even if the
 * catalog is not known.
 */
const describeEmptyKeys = (keys: readonly string[]) =>
  keys
    .filter(key => key.trim() === '')
    .map(key => `"${key}" is not a valid key: a key must not be empty`)

type SourceIdMap = (sourceId: string) => number | string | undefined

/**
 * Returns the elements with each source id in a key replaced by the result of `mapId`. Removes ids
 * that map to undefined, and keys that have no id left.
 */
export function mapSourceKeys(
  elements: readonly PipelineElement[],
  mapId: SourceIdMap,
): PipelineElement[] {
  return elements.map(element => {
    if (!element.config) return element
    const entries: [string, unknown][] = []
    for (const [key, value] of Object.entries(element.config)) {
      const mappedKey = isSourceKey(key) ? mapIds(key, mapId) : key
      if (mappedKey !== undefined) entries.push([mappedKey, value])
    }
    return { ...element, config: Object.fromEntries(entries) }
  })
}

/** Maps the ids in a key. Returns undefined if no id is left. */
function mapIds(key: string, mapId: SourceIdMap): string | undefined {
  const mappedIds = parseSourceIds(key)
    .map(mapId)
    .filter(id => id !== undefined)
  return mappedIds.length > 0 ? mappedIds.join(',') : undefined
}
