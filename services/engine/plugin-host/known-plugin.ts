import { join } from 'node:path'
import type { InstalledVersion, ManifestElement } from '@eyrie/contract/plugin'
import { isKeyedBySource } from '../plan/source-keyed-config.ts'
import { readManifest } from './manifest-file.ts'
import { runWithTimeout } from './run-with-timeout.ts'
import { type Check, compileCheck } from './schema-check.ts'

/** An element of an installed plugin. */
export interface KnownElement {
  plugin: { name: string; version: string }
  /** Path of the module whose default export has the element. */
  entry: string
  manifest: ManifestElement
  /** Runs on the engine's main thread, which is reserved for built-in elements; otherwise in a thread of its own. */
  isInline: boolean
  /** The keys of its config are source ids (`"1"`, `"1,2"`). */
  isKeyedBySource: boolean
  checkArgs: Check
  checkConfig: Check
}

export type Origin = InstalledVersion['origin']

/** A usable version of a plugin. */
export interface KnownPlugin {
  name: string
  version: string
  license: string
  origin: Origin
  folder: string
  elements: KnownElement[]
}

/** Generous, so that valid schemas pass even on a busy machine. */
const COMPILE_TIMEOUT_MS = 5000
const CHECK_TIMEOUT_MS = 1000

/** Reads the plugin in `folder` without running its code. Throws an Error that describes what is wrong with it. */
export function readPlugin(folder: string, origin: Origin): KnownPlugin {
  const { name, version, license, entry, elements } = readManifest(folder)
  const isTrusted = origin === 'built-in'
  const inferring = elements.find(({ needs }) => needs.includes('inference'))
  if (inferring && !isTrusted)
    throw new Error(`element ${inferring.name} needs inference, which is granted to built-in elements alone`)

  const toKnownElement = (manifest: ManifestElement): KnownElement => {
    // Input and output are not validated, but the catalog shows their schemas, which must be valid.
    for (const schema of [manifest.input_schema, manifest.output_schema]) compileCheck(schema)
    return {
      plugin: { name, version },
      entry: join(folder, entry),
      manifest,
      isInline: isTrusted && manifest.runs === 'inline',
      isKeyedBySource: isKeyedBySource(manifest),
      checkArgs: createCheck(manifest.params_schema, isTrusted),
      checkConfig: createCheck(manifest.config_schema, isTrusted),
    }
  }
  const toKnownElements = () => elements.map(toKnownElement)
  return {
    name,
    version,
    license,
    origin,
    folder,
    elements: isTrusted
      ? toKnownElements()
      : runWithTimeout(COMPILE_TIMEOUT_MS, 'its schemas take too long to compile', toKnownElements),
  }
}

/** Third-party schemas may contain regular expressions that never terminate. */
function createCheck(schema: ManifestElement['params_schema'], isTrusted: boolean): Check {
  const check = compileCheck(schema)
  if (isTrusted) return check
  return value => {
    try {
      const message = "the element's schema takes too long to check this"
      return runWithTimeout(CHECK_TIMEOUT_MS, message, () => check(value))
    } catch (error) {
      return { value, problem: { pointer: '', message: (error as Error).message } }
    }
  }
}
