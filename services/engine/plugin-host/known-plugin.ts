import { join } from 'node:path'
import type { InstalledVersion, Manifest, ManifestElement } from '@eyrie/contract/plugin'
import { isKeyedBySource } from '@eyrie/contract/source-keyed-config'
import { readManifest } from './manifest-file.ts'
import { runWithTimeout } from './run-with-timeout.ts'
import { isPython } from './sandbox/python/python-process.ts'
import { type Check, compileCheck } from './schema-check.ts'

/**
 * Time limits for the schemas of third parties. A harmful schema could take forever. A harmless one
 * takes less time, even on a busy machine.
 */
const COMPILE_TIMEOUT_MS = 5000
const CHECK_TIMEOUT_MS = 1000

/** An element (a step of pipelines) of an installed plugin. */
export interface KnownElement {
  plugin: { name: string; version: string }
  /** Path of the JavaScript module that exports the element. */
  entry: string
  /** Differs each time the plugin is read, so that replaced files are noticed. */
  revision: number
  manifest: ManifestElement
  /**
   * Where the element runs: on the main thread of the engine, in a thread, or in a process of its
   * own.
   */
  host: ElementHost
  /** Whether the keys of its config are source ids, such as `1` or `1,2`. */
  isKeyedBySource: boolean
  checkArgs: Check
  checkConfig: Check
}

export type ElementHost = 'inline' | 'thread' | 'process'

/**
 * Where a plugin comes from: built in, from a folder of the machine's owner, or
 * uploaded through the API.
 */
export type Origin = InstalledVersion['origin']

/**
 * A valid version of a plugin: a folder with a manifest and code. It provides elements, the steps
 * of pipelines. Only built-in plugins are trusted: their elements may run on the main thread and
 * use inference.
 */
export interface KnownPlugin {
  name: string
  version: string
  license: string
  origin: Origin
  folder: string
  elements: KnownElement[]
}

/** The revision of the plugin that was read last. */
let lastRevision = 0

/**
 * Reads the plugin in `folder` without running its code. Throws an `Error` with the reason if
 * the plugin is invalid.
 */
export function readPlugin(folder: string, origin: Origin): KnownPlugin {
  const manifest = readManifest(folder)
  assertCanRun(manifest, origin)
  const { name, version, license } = manifest
  const createElements = () => createKnownElements(manifest, folder, origin)
  const elements = isTrusted(origin)
    ? createElements()
    : runWithTimeout(COMPILE_TIMEOUT_MS, 'its schemas take too long to compile', createElements)
  return { name, version, license, origin, folder, elements }
}

const isTrusted = (origin: Origin) => origin === 'built-in'

/** Compiles the schemas of the elements. Throws an `Error` if a schema is invalid. */
function createKnownElements(
  { name, version, entry, elements }: Manifest,
  folder: string,
  origin: Origin,
): KnownElement[] {
  const revision = ++lastRevision
  return elements.map(manifest => {
    // The catalog shows these two schemas. They must be valid, but nothing is checked against them.
    compileCheck(manifest.input_schema)
    compileCheck(manifest.output_schema)
    return {
      plugin: { name, version },
      entry: join(folder, entry),
      revision,
      manifest,
      host: selectHost(origin, manifest),
      isKeyedBySource: isKeyedBySource(manifest),
      checkArgs: createCheck(manifest.params_schema, origin),
      checkConfig: createCheck(manifest.config_schema, origin),
    }
  })
}

/** Throws an `Error` if plugins of this origin cannot run what the manifest requires. */
function assertCanRun({ entry, elements }: Manifest, origin: Origin): void {
  const inferringElement = elements.find(({ needs }) => needs.includes('inference'))
  if (inferringElement && !isTrusted(origin)) {
    throw new Error(
      `element ${inferringElement.name} needs inference, which only built-in elements may use: ` +
        'declare "inference" in its capabilities, and run models with infer of the context',
    )
  }
  if (isPython(entry) && origin !== 'uploaded') {
    throw new Error(
      'elements in Python run in processes of their own only: upload the plugin with eyrie plugin add',
    )
  }
}

/**
 * Uploaded code is the least trusted, and runs in a process. Plugins in a folder of the machine
 * were put there by its owner.
 */
function selectHost(origin: Origin, { runs }: ManifestElement): ElementHost {
  if (origin === 'uploaded') return 'process'
  return isTrusted(origin) && runs === 'inline' ? 'inline' : 'thread'
}

/**
 * Creates the check against a schema. A schema of a third party may contain a regular expression
 * that takes forever, so its check has a time limit.
 */
function createCheck(schema: ManifestElement['params_schema'], origin: Origin): Check {
  const check = compileCheck(schema)
  if (isTrusted(origin)) return check

  return value => {
    const timeoutMessage = "the element's schema takes too long to check this"
    try {
      return runWithTimeout(CHECK_TIMEOUT_MS, timeoutMessage, () => check(value))
    } catch (error) {
      return { value, problem: { pointer: '', message: (error as Error).message } }
    }
  }
}
