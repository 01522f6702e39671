import type { PipelineElement } from '@eyrie/contract'
import { syntaxError, toJsonPointer } from '@eyrie/contract/parse'
import type { Catalog } from '../../catalog/catalog.ts'
import { parseSourceKey, SOURCE_KEY_RULE } from '../../plan/source-keyed-config.ts'

/**
 * Maps the source numbers in config keys (`"1"`, `"1,2"`) of elements whose config is keyed by sources. If `map` returns
 * undefined, the number is removed from its key; entries without any source are dropped.
 * Throws `EyrieError` (`syntax`) at a key that is invalid or repeats a source.
 */
export function mapSourceKeys(
  elements: PipelineElement[],
  catalog: Pick<Catalog, 'isKeyedBySource'>,
  map: (source: number, path: string) => number | undefined,
  path = '/elements',
): PipelineElement[] {
  return elements.map((element, index) => {
    if (!element.config || !catalog.isKeyedBySource(element.name)) return element
    const config: [key: string, value: unknown][] = []
    const usedSources = new Set<number>()
    for (const [key, value] of Object.entries(element.config)) {
      const keyPath = path + toJsonPointer([index, 'config', key])
      const keySources = parseSourceKey(key)
      if (!keySources) throw syntaxError(keyPath, SOURCE_KEY_RULE)
      const sources = keySources.flatMap(source => map(source, keyPath) ?? [])
      for (const source of sources) {
        if (usedSources.has(source)) throw syntaxError(keyPath, 'a source appears more than once')
        usedSources.add(source)
      }
      if (sources.length > 0) config.push([sources.join(','), value])
    }
    return { ...element, config: Object.fromEntries(config) }
  })
}
