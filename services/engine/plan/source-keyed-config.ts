import type { ManifestElement } from '@eyrie/contract/plugin'

type Config = Record<string, unknown>

/** Whether an element's config is keyed by sources: its schema lets `1` and `1,2` be keys and no word. */
export function keysAreSources({ config_schema }: Pick<ManifestElement, 'config_schema'>): boolean {
  const { pattern } = (config_schema?.propertyNames ?? {}) as { pattern?: string }
  if (typeof pattern !== 'string') return false
  const keys = new RegExp(pattern, 'u')
  return keys.test('1') && keys.test('1,2') && !keys.test('lines')
}

/** The sources that such a key names; undefined where it names none. */
export function sourcesOf(key: string): number[] | undefined {
  const parts = key.split(',').map(part => part.trim())
  return parts.every(part => /^\d{1,10}$/.test(part)) ? parts.map(Number) : undefined
}

/** What is wrong with a key that names no sources. */
export const KEYS_NAME_SOURCES = 'keys of this config name sources, such as "1" or "1,2"'

/** The entries of a config keyed by sources that speak of this one. */
export function ownConfig(config: Config, source: number): Config {
  return Object.fromEntries(
    Object.entries(config).filter(([sources]) => sources.split(',').map(Number).includes(source)),
  )
}

/**
 * Where a config keyed by sources gives one source two shapes of the same name, under keys that share it (`1` and
 * `1,2`); within one key the schema sees to that. `pointer` is the second one's place in the config.
 */
export function namedTwice(config: Config): { pointer: string; name: string; source: string } | undefined {
  const seen = new Set<string>()
  for (const [sources, entry] of Object.entries(config)) {
    for (const { pointer, name } of namesIn(entry)) {
      for (const source of sources.split(',')) {
        const own = JSON.stringify([Number(source), name])
        if (seen.has(own)) return { pointer: `/${sources}${pointer}`, name, source }
        seen.add(own)
      }
    }
  }
  return undefined
}

/** The names of the shapes in one entry's lists, such as `lines`. What has no name is no shape. */
function namesIn(entry: unknown): { pointer: string; name: string }[] {
  return Object.entries(entry ?? {}).flatMap(([list, shapes]) =>
    Array.isArray(shapes)
      ? shapes.flatMap((shape: { name?: unknown } | null, i) =>
          typeof shape?.name === 'string' ? { pointer: `/${list}/${i}/name`, name: shape.name } : [],
        )
      : [],
  )
}
