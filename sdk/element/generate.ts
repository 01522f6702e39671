import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { manifest } from '@eyrie/contract/plugin'
import type { PluginDefinition } from './define.ts'
import { schemasOf } from './schemas.ts'

/** A plugin's manifest as it should be: what its author wrote, and the schemas of its elements. */
export async function generateManifest(folder: string): Promise<Record<string, unknown>> {
  const written = JSON.parse(await readFile(resolve(folder, 'plugin.json'), 'utf8'))
  const { entry, elements } = manifest.parse(written)
  const plugin: { default: PluginDefinition } = await import(resolve(folder, entry))
  for (const { name } of elements)
    if (!plugin.default[name]) throw new Error(`${folder}: plugin.json names "${name}", ${entry} has none`)
  return {
    ...written,
    elements: written.elements.map((element: { name: string }) => ({
      ...element,
      ...schemasOf(plugin.default[element.name]!),
    })),
  }
}

if (import.meta.main)
  for (const folder of process.argv.slice(2)) {
    const text = JSON.stringify(await generateManifest(folder), null, 2)
    await writeFile(resolve(folder, 'plugin.json'), `${text}\n`)
  }
