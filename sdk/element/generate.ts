/**
 * Generates the JSON Schemas in the manifests of plugins from the zod schemas of their elements.
 * Usage: node generate.ts PLUGIN_FOLDER...
 */
import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { manifest } from '@eyrie/contract/plugin'
import { z } from 'zod'
import type { ElementDefinition, PluginDefinition } from './define.ts'

/**
 * Returns the manifest in `folder` with the schemas of its elements, which the entry module defines. Throws if the manifest is
 * invalid or lists an element that the entry module does not define.
 */
export async function generateManifest(folder: string): Promise<Record<string, unknown>> {
  const original = JSON.parse(await readFile(resolve(folder, 'plugin.json'), 'utf8'))
  const { entry, elements } = manifest.parse(original)
  const entryModule: { default: PluginDefinition } = await import(resolve(folder, entry))
  const definitions = entryModule.default
  for (const { name } of elements)
    if (!definitions[name])
      throw new Error(`${folder}: plugin.json lists element "${name}", but ${entry} does not define it`)

  return {
    ...original,
    elements: original.elements.map((element: { name: string }) => ({
      ...element,
      ...toManifestSchemas(definitions[element.name]!),
    })),
  }
}

function toManifestSchemas({ args, config, input, output }: ElementDefinition) {
  return {
    params_schema: toJsonSchema(args),
    config_schema: config ? toJsonSchema(config) : null,
    ...(input && { input_schema: toJsonSchema(input) }),
    ...(output && { output_schema: toJsonSchema(output) }),
  }
}

/** Converts to a JSON Schema (draft 2020-12) for inputs, in which properties with a default are optional. */
function toJsonSchema(schema: z.ZodType): Record<string, unknown> {
  return z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io: 'input',
    override({ jsonSchema }) {
      // zod limits every integer to the safe range of a double, which is noise in a catalog.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
    },
  })
}

if (import.meta.main)
  for (const folder of process.argv.slice(2)) {
    const text = JSON.stringify(await generateManifest(folder), null, 2)
    await writeFile(resolve(folder, 'plugin.json'), `${text}\n`)
  }
