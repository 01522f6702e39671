import { syntaxError } from './parse.ts'

/** Fields of an element in a manifest that are generated from its code. They may be null, but are not omitted. */
const GENERATED_FIELDS = ['params_schema', 'config_schema']

/**
 * Throws `EyrieError` (`syntax`) if an element of a manifest lacks generated schemas. Without them, the engine would accept any
 * arguments for the element. `manifest` is the content of a valid `plugin.json`, without defaults.
 */
export function assertSchemasGenerated(manifest: { elements: Record<string, unknown>[] }): void {
  for (const [index, element] of manifest.elements.entries()) {
    const missing = GENERATED_FIELDS.filter(field => element[field] === undefined)
    if (missing.length === 0) continue
    throw syntaxError(
      `/elements/${index}`,
      `element ${element.name} has no ${missing.join(' and no ')}: write them with eyrie plugin generate <folder>`,
    )
  }
}
