import { join } from 'node:path'
import type { InstalledVersion, ManifestElement } from '@eyrie/contract/plugin'
import { isKeyedBySource } from '@eyrie/contract/source-keyed-config'
import { readManifest } from './manifest-file.ts'
import { runWithTimeout } from './run-with-timeout.ts'
import { isPython } from './sandbox/python/python-process.ts'
import { type Check, compileCheck } from './schema-check.ts'

/**
 * A plugin is a folder with a manifest and code. It provides elements, the steps of pipelines. The origin of a plugin
 * decides whether it is trusted: only built-in plugins may run on the main thread and use inference.
 */

/** An element (a step of pipelines) of an installed plugin. */
export interface KnownElement {
  plugin: { name: string; version: string }
  /** Path of the JavaScript module that exports the element. */
  entry: string
  /** Differs when the plugin is read again, because its files were replaced. */
  revision: number
  manifest: ManifestElement
  /** Where the element runs: on the main thread of the engine, in a thread, or in a process of its own. */
  host: ElementHost
  /** Whether the keys of its config are source ids, such as `1` or `1,2`. */
  isKeyedBySource: boolean
  checkArgs: Check
  checkConfig: Check
}

export type ElementHost = 'inline' | 'thread' | 'process'

export type Origin = InstalledVersion['origin']

/** A valid version of a plugin. */
export interface KnownPlugin {
  name: string
  version: string
  license: string
  origin: Origin
  folder: string
  elements: KnownElement[]
}

let lastRevision = 0

/** Long enough for all valid schemas, even on a busy machine. */
const COMPILE_TIMEOUT_MS = 5000
const CHECK_TIMEOUT_MS = 1000

/** Reads the plugin in `folder` without running its code. Throws an `Error` with the reason if the plugin is invalid. */
export function readPlugin(folder: string, origin: Origin): KnownPlugin {
  const { name, version, license, entry, elements } = readManifest(folder)
  const revision = ++lastRevision
  const isTrusted = origin === 'built-in'
  const inferringElement = elements.find(({ needs }) => needs.includes('inference'))
  if (inferringElement && !isTrusted)
    throw new Error(
      `element ${inferringElement.name} needs inference, which only built-in elements may use: declare "inference" in its capabilities, and run models with infer of the context`,
    )

  if (isPython(entry) && origin !== 'uploaded')
    throw new Error(
      'elements in Python run in processes of their own only: upload the plugin with eyrie plugin add',
    )

  const toKnownElement = (manifest: ManifestElement): KnownElement => {
    // These two schemas are only shown in the catalog, but they must be valid.
    for (const schema of [manifest.input_schema, manifest.output_schema]) compileCheck(schema)
    return {
      plugin: { name, version },
      entry: join(folder, entry),
      revision,
      manifest,
      host: selectHost(origin, manifest),
      isKeyedBySource: isKeyedBySource(manifest),
      checkArgs: createCheck(manifest.params_schema, isTrusted),
      checkConfig: createCheck(manifest.config_schema, isTrusted),
    }
  }
  const toKnownElements = () => elements.map(toKnownElement)
  const timeoutMessage = 'its schemas take too long to compile'

  return {
    name,
    version,
    license,
    origin,
    folder,
    elements: isTrusted
      ? toKnownElements()
      : runWithTimeout(COMPILE_TIMEOUT_MS, timeoutMessage, toKnownElements),
  }
}

/** Strangers can upload plugins; the other ones were put on the machine by its owner. */
function selectHost(origin: Origin, { runs }: ManifestElement): ElementHost {
  if (origin === 'uploaded') return 'process'
  return origin === 'built-in' && runs === 'inline' ? 'inline' : 'thread'
}

/** Third-party schemas may contain regular expressions that take forever, so their checks have a timeout. */
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
