import type { PipelineElement } from '@eyrie/contract'

// The configuration of a pipeline element may depend on the source. Its keys are then source keys:
// the id of a source, or the ids of several sources separated by commas. Example:
// `{ "<uuid>": { "threshold": 1 }, "<uuid>, <uuid>": { "threshold": 2 } }`.

const UUID = '[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}'
const SOURCE_KEY = new RegExp(`^\\s*${UUID}\\s*(?:,\\s*${UUID}\\s*)*$`, 'i')
const SOURCE_KEY_RULE =
  'the keys of this config are ids of sources, as /source/list returns them, several separated by commas'

/** An invalid key in the configuration of an element. */
interface InvalidKey {
  /** Index of the element in its pipeline. */
  index: number
  reason: string
}

/** Returns the new id of a source, or undefined to remove the source from the configuration. */
type MapSourceId = (sourceId: string) => number | string | undefined

/** Returns the ids of all sources that the configurations of elements refer to, each once. */
export function findReferencedSources(elements: readonly PipelineElement[]): string[] {
  const keys = elements.flatMap(({ config = {} }) => Object.keys(config))
  return [...new Set(keys.filter(isSourceKey).flatMap(parseSourceIds))]
}

/**
 * Returns the elements with other ids of sources in their source keys. A key that has no id left is
 * removed with its value.
 */
export function mapSourceKeys(
  elements: readonly PipelineElement[],
  mapId: MapSourceId,
): PipelineElement[] {
  return elements.map(element => {
    if (!element.config) return element

    const entries: [string, unknown][] = []
    for (const [key, value] of Object.entries(element.config)) {
      const newKey = isSourceKey(key) ? mapSourceKey(key, mapId) : key
      if (newKey !== undefined) entries.push([newKey, value])
    }
    return { ...element, config: Object.fromEntries(entries) }
  })
}

/** Maps the ids in a source key. Returns undefined if no id is left. */
function mapSourceKey(key: string, mapId: MapSourceId): string | undefined {
  const ids = parseSourceIds(key)
    .map(mapId)
    .filter(id => id !== undefined)
  return ids.length > 0 ? ids.join(',') : undefined
}

/**
 * Returns the keys that an engine would reject. `isKeyedBySource` returns whether an element has
 * source keys, or undefined for an element that the engine's catalog does not contain.
 */
export function findInvalidKeys(
  elements: readonly PipelineElement[],
  isKeyedBySource: (elementName: string) => boolean | undefined,
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
  const invalidKeys = keys.filter(key => !isSourceKey(key))
  const ids = keys.filter(isSourceKey).flatMap(parseSourceIds)
  const occurrences = [...Map.groupBy(ids, id => id)]
  const repeatedIds = occurrences.filter(([, same]) => same.length > 1).map(([id]) => id)
  return [
    ...invalidKeys.map(key => `"${key}" does not name a source: ${SOURCE_KEY_RULE}`),
    ...repeatedIds.map(
      id => `source ${id} appears more than once: name each source in one key only`,
    ),
  ]
}

/**
 * An empty key is a mistake in the configuration of any element, even of one that the catalog does
 * not contain, because no setting has an empty name.
 */
const describeEmptyKeys = (keys: readonly string[]): string[] =>
  keys
    .filter(key => key.trim() === '')
    .map(key => `"${key}" is not a valid key: a key must not be empty`)

const isSourceKey = (key: string) => SOURCE_KEY.test(key)
const parseSourceIds = (key: string) => key.split(',').map(id => id.trim().toLowerCase())
