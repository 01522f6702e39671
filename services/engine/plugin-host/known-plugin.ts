import { join } from 'node:path'
import type { InstalledVersion, ManifestElement } from '@eyrie/contract/plugin'
import { keysAreSources } from '../plan/source-keyed-config.ts'
import { inTime } from './in-time.ts'
import { readManifest } from './manifest-file.ts'
import { type Check, compileCheck } from './schema-check.ts'

/** An element of a plugin that was found, with its plugin's identity. */
export interface KnownElement {
  plugin: { name: string; version: string }
  /** Path of the module whose default export has the element. */
  entry: string
  manifest: ManifestElement
  /** On the engine's main thread, which only built-in elements are trusted with; else in a thread of its own. */
  inline: boolean
  /** Whether the keys of its config name sources (`"1"`, `"1,2"`). */
  keysAreSources: boolean
  checkArgs: Check
  checkConfig: Check
}

export type Origin = InstalledVersion['origin']

/** A version of a plugin that can be run. */
export interface KnownPlugin {
  name: string
  version: string
  license: string
  origin: Origin
  folder: string
  elements: KnownElement[]
}

/** Far more than either takes, so that a busy machine refuses nothing. */
const COMPILE_MS = 5000
const CHECK_MS = 1000

/** The plugin in a folder, without running its code. Throws an Error that says what is wrong with it. */
export function readPlugin(folder: string, origin: Origin): KnownPlugin {
  const { name, version, license, entry, elements } = readManifest(folder)
  const trusted = origin === 'built-in'
  const asking = elements.find(({ needs }) => needs.includes('inference'))
  if (asking && !trusted)
    throw new Error(`element ${asking.name} needs inference, which is granted to built-in elements alone`)
  const compile = (manifest: ManifestElement) => {
    // Nothing is checked by these, but the catalog shows them as what they say they are.
    for (const schema of [manifest.input_schema, manifest.output_schema]) compileCheck(schema)
    return {
      plugin: { name, version },
      entry: join(folder, entry),
      manifest,
      inline: trusted && manifest.runs === 'inline',
      keysAreSources: keysAreSources(manifest),
      checkArgs: checkBy(manifest.params_schema, trusted),
      checkConfig: checkBy(manifest.config_schema, trusted),
    }
  }
  const known = () => elements.map(compile)
  const compiled = trusted ? known() : inTime(COMPILE_MS, 'its schemas take too long to compile', known)
  return { name, version, license, origin, folder, elements: compiled }
}

/** Others' schemas may hold patterns that never come to an end. */
function checkBy(schema: ManifestElement['params_schema'], trusted: boolean): Check {
  const check = compileCheck(schema)
  if (trusted) return check
  return value => {
    try {
      return inTime(CHECK_MS, "the element's schema takes too long to check this", () => check(value))
    } catch (error) {
      return { value, problem: { pointer: '', message: (error as Error).message } }
    }
  }
}
