import type { ManifestElement } from '@eyrie/contract/manifest'

type Config = Record<string, unknown>

/** Whether an element's config is keyed by sources: its schema lets `1` and `1,2` be keys and no word. */
export function keysAreSources({ config_schema }: Pick<ManifestElement, 'config_schema'>): boolean {
  const { pattern } = (config_schema?.propertyNames ?? {}) as { pattern?: string }
  if (typeof pattern !== 'string') return false
  const keys = new RegExp(pattern, 'u')
  return keys.test('1') && keys.test('1,2') && !keys.test('lines')
}

/** The entries of a config keyed by sources that speak of this one. */
export function ownConfig(config: Config, source: number): Config {
  return Object.fromEntries(
    Object.entries(config).filter(([sources]) => sources.split(',').map(Number).includes(source)),
  )
}
