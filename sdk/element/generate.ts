#!/usr/bin/env node
/**
 * Generates the JSON Schemas in the manifests of plugins from the zod schemas of their elements.
 * Usage: node generate.ts PLUGIN_FOLDER...
 */
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { registerHooks } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseAs } from '@eyrie/contract/parse'
import { manifest } from '@eyrie/contract/plugin'
import { z } from 'zod'
import type { ElementDefinition, PluginDefinition } from './define.ts'
import { describeError } from './error-location.ts'

/**
 * Returns the manifest in `folder`, completed with what the code of the plugin defines: the schemas
 * and events of its elements, and the hashes of its models. Throws an `Error` if the manifest is
 * invalid, or lists an element that the entry module does not define.
 */
export async function generateManifest(folder: string): Promise<Record<string, unknown>> {
  // Untyped, so that fields that the schema does not know are preserved.
  const original = JSON.parse(await readFile(resolve(folder, 'plugin.json'), 'utf8'))
  await hashOwnModels(original, folder)
  const { entry, elements } = parseAs(manifest, original)
  const entryModule: { default?: PluginDefinition } = await import(
    pathToFileURL(resolve(folder, entry)).href
  )
  const definitions = entryModule.default ?? {}
  const missing = elements.find(({ name }) => !Object.hasOwn(definitions, name))
  if (missing) {
    throw new Error(`plugin.json lists element "${missing.name}", but ${entry} does not define it`)
  }

  return {
    ...original,
    elements: original.elements.map((element: { name: string; capabilities?: object }) => ({
      ...element,
      ...toCapabilities(element, definitions[element.name]!),
      ...toManifestSchemas(definitions[element.name]!),
    })),
  }
}

/** The part of a manifest that lists the models in the package. It is not validated yet. */
interface ModelManifest {
  elements?: { capabilities?: { inference?: { own?: { file?: unknown; sha256?: string }[] } } }[]
}

/** Writes the SHA-256 of each model in the package into the manifest. */
async function hashOwnModels({ elements = [] }: ModelManifest, folder: string): Promise<void> {
  const models = elements.flatMap(({ capabilities }) => capabilities?.inference?.own ?? [])
  for (const model of models) {
    const content = await readFile(resolve(folder, String(model.file)))
    model.sha256 = createHash('sha256').update(content).digest('hex')
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

/** Returns the capabilities of an element, with the events that its code declares. */
function toCapabilities(
  { capabilities }: { capabilities?: object },
  { events }: ElementDefinition,
) {
  if (!events) return {}
  const declared = Object.entries(events).map(([type, schema]) => [type, toFieldTypes(schema)])
  return { capabilities: { ...capabilities, events: Object.fromEntries(declared) } }
}

/** Types of event fields in the manifest, by type in JSON Schema. */
const FIELD_TYPES: Record<string, string> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
}

/** Returns the type of each field of an event; `any` for a field that is a list or an object. */
function toFieldTypes(schema: z.ZodObject): Record<string, string> {
  const properties = (toJsonSchema(schema).properties ?? {}) as Record<string, { type?: unknown }>
  const fields = Object.entries(properties).map(([name, { type }]) => [
    name,
    FIELD_TYPES[String(type)] ?? 'any',
  ])
  return Object.fromEntries(fields)
}

/**
 * Converts to a JSON Schema (draft 2020-12) for inputs, in which properties with a
 * default are optional.
 */
function toJsonSchema(schema: z.ZodType): Record<string, unknown> {
  return z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io: 'input',
    override({ jsonSchema }) {
      // zod limits every integer to the safe range of a double. Readers of the manifest do not need
      // these limits.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
    },
  })
}

/**
 * Completes the manifest of a plugin, as `generateManifest` does, and writes it. The code of the
 * plugin need not have the SDK installed. Rejects with the reason, which names the file and line of
 * errors in the code.
 */
export async function writeManifest(folder: string): Promise<void> {
  const absoluteFolder = resolve(folder)
  const hooks = resolveSdkImportsHere()
  try {
    const manifestFile = resolve(absoluteFolder, 'plugin.json')
    const text = `${JSON.stringify(await generateManifest(absoluteFolder), null, 2)}\n`
    // An unchanged file is not written, because programs that watch the folder would react to it.
    if (text !== (await readFile(manifestFile, 'utf8'))) await writeFile(manifestFile, text)
  } catch (error) {
    throw new Error(`${folder}: ${describeError(error, absoluteFolder)}`, { cause: error })
  } finally {
    hooks.deregister()
  }
}

/** Resolves imports of `@eyrie/element` and its subpaths as if this module contained them. */
const resolveSdkImportsHere = () =>
  registerHooks({
    resolve: (specifier, context, next) =>
      /^@eyrie\/element(\/|$)/.test(specifier)
        ? next(specifier, { ...context, parentURL: import.meta.url })
        : next(specifier, context),
  })

async function main(folders: readonly string[]): Promise<number> {
  if (folders.length === 0) {
    console.error('usage: eyrie-generate PLUGIN_FOLDER...')
    return 2
  }
  try {
    for (const folder of folders) {
      await writeManifest(folder)
      console.log(`wrote ${join(folder, 'plugin.json')}`)
    }
    return 0
  } catch (error) {
    console.error((error as Error).message)
    return 1
  }
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2))
