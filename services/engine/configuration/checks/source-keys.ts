import type { PipelineElement } from '@eyrie/contract'
import { syntaxError, toJsonPointer } from '@eyrie/contract/parse'
import type { Catalog } from '../../catalog/catalog.ts'
import { parseSourceKey, SOURCE_KEY_RULE } from '../../plan/source-keyed-config.ts'

/**
 * Elements whose config is keyed by sources (`"1"`, `"1,2"`), each number replaced by what `rename` makes of it.
 * A number without a replacement leaves its key, and a key that names nobody any more goes with its value.
 * Throws EyrieError `syntax` at a key that names no sources or one that another key has named.
 */
export function renameSources(
  elements: PipelineElement[],
  catalog: Pick<Catalog, 'keysAreSources'>,
  rename: (source: number, at: string) => number | undefined,
  at = '/elements',
): PipelineElement[] {
  return elements.map((element, index) => {
    if (!element.config || !catalog.keysAreSources(element.name)) return element
    const seen = new Set<number>()
    const entries = Object.entries(element.config).flatMap(([key, value]) => {
      const place = at + toJsonPointer([index, 'config', key])
      const named = requireSources(key, place).flatMap(source => rename(source, place) ?? [])
      for (const source of named) {
        if (seen.has(source)) throw syntaxError(place, 'a source is named twice')
        seen.add(source)
      }
      return named.length > 0 ? [[named.join(','), value] as const] : []
    })
    return { ...element, config: Object.fromEntries(entries) }
  })
}

function requireSources(key: string, at: string): number[] {
  const sources = parseSourceKey(key)
  if (!sources) throw syntaxError(at, SOURCE_KEY_RULE)
  return sources
}
