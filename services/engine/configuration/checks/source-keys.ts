import type { PipelineElement } from '@eyrie/contract'
import { syntaxError, toJsonPointer } from '@eyrie/contract/parse'
import type { Catalog } from '../../catalog/catalog.ts'
import { describeInvalidSourceKey, parseSourceKey } from '../../plan/source-keyed-config.ts'

/**
 * Returns the new id of a source, or undefined to remove the source. `path` is the JSON
 * pointer to the config key.
 */
type MapSource = (source: number, path: string) => number | undefined

/**
 * Replaces the ids of sources in the configs of elements. Some elements have a config for each
 * source, under keys that list source ids, such as `"1"` or `"1,2"`. If `mapSource` removes all
 * sources of a key, the key is removed with its value. Other configs are unchanged. Throws
 * `EyrieError` (`syntax`) at a key that is invalid or repeats a source.
 */
export function mapSourceKeys(
  elements: PipelineElement[],
  catalog: Pick<Catalog, 'isKeyedBySource'>,
  mapSource: MapSource,
  path = '/elements',
): PipelineElement[] {
  return elements.map((element, index) => {
    if (!element.config || !catalog.isKeyedBySource(element.name)) return element
    const configPath = path + toJsonPointer([index, 'config'])
    return { ...element, config: mapConfigKeys(element.config, mapSource, configPath) }
  })
}

function mapConfigKeys(config: Record<string, unknown>, mapSource: MapSource, path: string) {
  const mapped: [key: string, value: unknown][] = []
  const usedSources = new Set<number>()
  for (const [key, value] of Object.entries(config)) {
    const keyPath = path + toJsonPointer([key])
    const keySources = parseSourceKey(key)
    if (!keySources) throw syntaxError(keyPath, describeInvalidSourceKey(key))

    const sources = keySources.flatMap(source => mapSource(source, keyPath) ?? [])
    for (const source of sources) {
      if (usedSources.has(source)) {
        throw syntaxError(
          keyPath,
          'a source appears more than once: name each source in one key only',
        )
      }
      usedSources.add(source)
    }
    if (sources.length > 0) mapped.push([sources.join(','), value])
  }
  return Object.fromEntries(mapped)
}
