import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Manifest, type ManifestElement, manifest } from '@eyrie/contract/manifest'
import type { Log } from '@eyrie/element'
import { type Check, compileCheck } from './schema.ts'

/** An element of a plugin that was found, with its plugin's identity. */
export interface KnownElement {
  plugin: { name: string; version: string }
  /** Path of the module whose default export has the element. */
  entry: string
  manifest: ManifestElement
  checkArgs: Check
  checkConfig: Check
}

/** The elements of all plugins in `folders`, by name. What is broken is logged and left out; the first of a name counts. */
export function discoverElements(folders: readonly string[], log: Log): ReadonlyMap<string, KnownElement> {
  const found = new Map<string, KnownElement>()
  for (const folder of folders.flatMap(pluginFolders)) {
    try {
      for (const element of readPlugin(folder)) {
        const other = found.get(element.manifest.name)
        if (!other) found.set(element.manifest.name, element)
        else
          log.warn(
            { folder, element: element.manifest.name, known: other.entry },
            'two plugins have one element',
          )
      }
    } catch (error) {
      log.error({ folder, reason: (error as Error).message }, 'plugin skipped')
    }
  }
  return found
}

function pluginFolders(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .sort()
    .map(name => join(folder, name))
    .filter(path => existsSync(join(path, 'plugin.json')))
}

function readPlugin(folder: string): KnownElement[] {
  const { name, version, entry, elements } = readManifest(join(folder, 'plugin.json'))
  const path = join(folder, entry)
  if (!existsSync(path)) throw new Error(`entry ${path} does not exist`)
  return elements.map(element => {
    refuseUnservable(element)
    return {
      plugin: { name, version },
      entry: path,
      manifest: element,
      checkArgs: compileCheck(element.params_schema),
      checkConfig: compileCheck(element.config_schema),
    }
  })
}

function readManifest(path: string): Manifest {
  const parsed = manifest.safeParse(JSON.parse(readFileSync(path, 'utf8')))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new Error(`${path}: ${issue?.path.join('.') || 'the manifest'}: ${issue?.message}`)
}

/** Pixels are never read on the main thread, and inference workers answer to it alone. */
function refuseUnservable({ name, runs, needs }: ManifestElement): void {
  if (needs.includes('pixels') && runs !== 'worker') {
    throw new Error(`element ${name} needs pixels, so its manifest must say "runs": "worker"`)
  }
  if (needs.includes('inference') && runs !== 'inline') {
    throw new Error(`element ${name} needs inference, so its manifest must say "runs": "inline"`)
  }
}
