import type { CatalogElement } from './catalog.ts'

/**
 * Whether the config of an element is keyed by source. A manifest has no flag for this, but its
 * config schema restricts the keys with a `propertyNames` pattern. Plugins may write equivalent
 * patterns differently, so the pattern is tested with sample keys: it must match source ids and
 * must not match a word.
 */
export function isKeyedBySource({
  config_schema: configSchema,
}: Pick<CatalogElement, 'config_schema'>): boolean {
  const { pattern } = (configSchema?.propertyNames ?? {}) as { pattern?: string }
  if (typeof pattern !== 'string') return false
  const keyPattern = new RegExp(pattern, 'u')
  const allowsSourceIds = keyPattern.test('1') && keyPattern.test('1,2')
  const allowsWords = keyPattern.test('lines')
  return allowsSourceIds && !allowsWords
}
