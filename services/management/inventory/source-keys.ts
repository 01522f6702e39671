import type { PipelineElement } from '@eyrie/contract'

// The config of a pipeline element may have a key for each source, or for several: `<uuid>` or `<uuid>,<uuid>`.

const UUID = '[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}'
const SOURCE_KEY = new RegExp(`^\\s*${UUID}\\s*(?:,\\s*${UUID}\\s*)*$`, 'i')

const isSourceKey = (key: string) => SOURCE_KEY.test(key)
const parseSourceIds = (key: string) => key.split(',').map(id => id.trim().toLowerCase())

/** Returns the ids of the sources that config keys refer to. */
export function findReferencedSources(elements: readonly PipelineElement[]): string[] {
  const keys = elements.flatMap(({ config = {} }) => Object.keys(config))
  return [...new Set(keys.filter(isSourceKey).flatMap(parseSourceIds))]
}

/** Replaces the source ids in config keys. Ids that map to undefined are removed, and so are keys without any id left. */
export function mapSourceKeys(
  elements: readonly PipelineElement[],
  mapId: (source_id: string) => number | string | undefined,
): PipelineElement[] {
  return elements.map(element => {
    if (!element.config) return element
    const entries: [string, unknown][] = []
    for (const [key, value] of Object.entries(element.config)) {
      if (!isSourceKey(key)) {
        entries.push([key, value])
        continue
      }
      const ids = parseSourceIds(key).flatMap(id => mapId(id) ?? [])
      if (ids.length > 0) entries.push([ids.join(','), value])
    }
    return { ...element, config: Object.fromEntries(entries) }
  })
}
