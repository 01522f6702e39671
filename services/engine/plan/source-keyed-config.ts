import type { ManifestElement } from '@eyrie/contract/plugin'

type Config = Record<string, unknown>

/** Whether an element's config is keyed by sources: its schema allows keys such as `1` and `1,2`, but no words. */
export function isKeyedBySource({ config_schema }: Pick<ManifestElement, 'config_schema'>): boolean {
  const { pattern } = (config_schema?.propertyNames ?? {}) as { pattern?: string }
  if (typeof pattern !== 'string') return false
  const keys = new RegExp(pattern, 'u')
  return keys.test('1') && keys.test('1,2') && !keys.test('lines')
}

/** The source ids in a key such as `1,2`; undefined if the key is malformed. */
export function parseSourceKey(key: string): number[] | undefined {
  const parts = key.split(',').map(part => part.trim())
  return parts.every(part => /^\d{1,10}$/.test(part)) ? parts.map(Number) : undefined
}

/** Explains to the user what is wrong with a malformed key. */
export const SOURCE_KEY_RULE = 'keys of this config name sources, such as "1" or "1,2"'

/** The entries of a config keyed by sources that apply to `source`. */
export function selectSourceConfig(config: Config, source: number): Config {
  return Object.fromEntries(
    Object.entries(config).filter(([key]) => key.split(',').map(Number).includes(source)),
  )
}

/**
 * Finds the first shape whose name another shape of the same source already has. The schema rules this out within one key,
 * but a source can occur in several keys (`1` and `1,2`). `pointer` locates the second shape.
 */
export function findDuplicateShape(
  config: Config,
): { pointer: string; name: string; source: string } | undefined {
  const seen = new Set<string>()
  for (const [key, entry] of Object.entries(config)) {
    for (const { pointer, name } of listShapeNames(entry)) {
      for (const source of key.split(',')) {
        const shapeOfSource = JSON.stringify([Number(source), name])
        if (seen.has(shapeOfSource)) return { pointer: `/${key}${pointer}`, name, source }
        seen.add(shapeOfSource)
      }
    }
  }
  return undefined
}

/** The names of all shapes in the lists of an entry, such as `lines`. Items without a name are not shapes. */
function listShapeNames(entry: unknown): { pointer: string; name: string }[] {
  const names: { pointer: string; name: string }[] = []
  for (const [list, shapes] of Object.entries(entry ?? {})) {
    if (!Array.isArray(shapes)) continue
    for (const [i, shape] of shapes.entries())
      if (typeof shape?.name === 'string') names.push({ pointer: `/${list}/${i}/name`, name: shape.name })
  }
  return names
}
