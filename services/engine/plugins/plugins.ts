import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { EyrieError, type Plugin } from '@eyrie/contract'
import { syntaxError } from '@eyrie/contract/parse'
import { Mutex } from 'async-mutex'
import type { Catalog } from '../catalog/catalog.ts'
import type { Configuration } from '../configuration/configuration.ts'
import { assertIfMatch, computeEtag, type Tagged } from '../configuration/etag.ts'
import { type KnownElement, type KnownPlugin, readPlugin } from '../plugin-host/known-plugin.ts'
import { inspectElements } from './inspect-elements.ts'
import {
  collectElements,
  describePlugin,
  describePlugins,
  findActiveVersion,
  findElementCollision,
  type InstalledPlugins,
  listVersions,
} from './installed-plugins.ts'
import type { PluginStore } from './plugin-store.ts'
import { findIncompatiblePipelines, findUsers } from './plugin-usage.ts'
import { type UnpackLimits, unpackPackage } from './unpack-package.ts'

export interface PluginsDependencies {
  store: PluginStore
  /** Creates the catalog for these elements. */
  catalogOf(elements: ReadonlyMap<string, KnownElement>): Catalog
  configuration: Pick<Configuration, 'runExclusive'>
  limits: UnpackLimits
}

/** Manages the plugins. Changes are serialized and atomic, and do not affect channels that do not use the plugin. */
export interface Plugins {
  list(): Tagged<Plugin[]>
  get(name: string): Tagged<Plugin>
  /** Adds a version; the first version of a plugin becomes active. `unchanged` if it exists with the same content. */
  upload(archive: Uint8Array, ifMatch?: string): Promise<Tagged<Plugin> & { unchanged: boolean }>
  /** Makes a version active. Throws `EyrieError` (`reference`) if it is incompatible with existing pipelines. */
  use(name: string, version: string, ifMatch?: string): Promise<Tagged<Plugin>>
  remove(name: string, version: string, ifMatch?: string): Promise<void>
  /** Aborts running inspections. */
  stop(): void
}

export function createPlugins({ store, catalogOf, configuration, limits }: PluginsDependencies): Plugins {
  const mutex = new Mutex()
  const stopping = new AbortController()

  const list = () => toTagged(describePlugins(store.installed()))

  function get(name: string): Tagged<Plugin> {
    const plugin = describePlugin(store.installed(), name)
    if (!plugin) throw new EyrieError('id', `plugin ${name} does not exist`)
    return toTagged(plugin)
  }

  function findVersion(name: string, version: string): KnownPlugin {
    const versions = listVersions(store.installed(), name)
    const plugin = versions.find(candidate => candidate.version === version)
    if (plugin) return plugin
    const available = versions.map(candidate => candidate.version).join(', ')
    throw new EyrieError('id', `plugin ${name} has no version ${version}; available: ${available}`)
  }

  /** Returns false if the version is already installed with the same content. */
  async function install(plugin: KnownPlugin): Promise<boolean> {
    const installed = store.installed()
    const { name, version } = plugin
    const existing = listVersions(installed, name).find(candidate => candidate.version === version)
    if (existing) {
      if ((await computeDigest(existing.folder)) === (await computeDigest(plugin.folder))) return false
      throw new EyrieError(
        'conflict',
        `version ${version} of ${name} already exists with different content: upload it as another version`,
      )
    }
    const isFirst = !findActiveVersion(installed, name)
    if (isFirst) assertNoElementCollision(installed, plugin)
    await inspectElements(plugin, stopping.signal)
    // Only the first version becomes active. Channels that wait for its elements are then started.
    if (isFirst) await configuration.runExclusive(() => store.add(plugin))
    else await store.add(plugin)
    return true
  }

  const upload: Plugins['upload'] = (archive, ifMatch) =>
    mutex.runExclusive(() =>
      store.withDraftFolder(async draft => {
        assertIfMatch(ifMatch, list().etag)
        const plugin = readUploadedPlugin(await unpackPackage(archive, draft, limits))
        const isNew = await install(plugin)
        return { ...get(plugin.name), unchanged: !isNew }
      }),
    )

  const use: Plugins['use'] = (name, version, ifMatch) =>
    mutex.runExclusive(async () => {
      assertIfMatch(ifMatch, get(name).etag)
      const plugin = findVersion(name, version)
      const installed = store.installed()
      if (findActiveVersion(installed, name) === plugin) return get(name)
      assertNoElementCollision(installed, plugin)
      const next: InstalledPlugins = { ...installed, selected: { ...installed.selected, [name]: version } }
      await configuration.runExclusive(async configured => {
        const incompatible = findIncompatiblePipelines(
          configured,
          catalogOf(store.elements),
          catalogOf(collectElements(next)),
        )
        if (incompatible.length > 0) {
          const reasons = incompatible.map(({ reason }) => reason).join('; ')
          throw new EyrieError(
            'reference',
            `version ${version} is incompatible with the args or config of pipelines: ${reasons}`,
            { value: { pipelines: incompatible.map(({ pipeline }) => pipeline) } },
          )
        }
        await store.select(name, version)
      })
      return get(name)
    })

  const remove: Plugins['remove'] = (name, version, ifMatch) =>
    mutex.runExclusive(async () => {
      assertIfMatch(ifMatch, get(name).etag)
      const plugin = findVersion(name, version)
      assertUploaded(plugin)
      await configuration.runExclusive(async ({ pipelines }) => {
        const users = findUsers(plugin, pipelines, store.elements)
        if (users.length > 0)
          throw new EyrieError(
            'reference',
            `pipelines ${users.join(', ')} use version ${version} of ${name}: change them or select another version first`,
            { value: { pipelines: users } },
          )
        await store.remove(plugin)
      })
    })

  return { list, get, upload, use, remove, stop: () => stopping.abort() }
}

/** Plugins contain no secrets, so a constant key is sufficient for their entity tags. */
const toTagged = <T>(value: T): Tagged<T> => ({ value, etag: computeEtag('plugins', value) })

function readUploadedPlugin(folder: string): KnownPlugin {
  try {
    return readPlugin(folder, 'uploaded')
  } catch (cause) {
    throw syntaxError('', (cause as Error).message, { cause })
  }
}

function assertNoElementCollision(installed: InstalledPlugins, plugin: KnownPlugin): void {
  const collision = findElementCollision(installed, plugin)
  if (!collision) return
  throw new EyrieError(
    'conflict',
    `plugin ${collision.plugin.name} already has an element ${collision.manifest.name}`,
  )
}

function assertUploaded({ name, version, origin, folder }: KnownPlugin): void {
  if (origin === 'uploaded') return
  throw new EyrieError(
    'conflict',
    origin === 'built-in'
      ? `version ${version} of ${name} is built in and cannot be removed: use another version instead`
      : `version ${version} of ${name} was not uploaded: remove it from ${folder}`,
  )
}

/** SHA-256 of the names and contents of all files in a folder. */
async function computeDigest(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter(entry => entry.isFile())
    .map(entry => relative(folder, join(entry.parentPath, entry.name)))
    .sort()
  const digest = createHash('sha256')
  for (const file of files) {
    const content = createHash('sha256').update(await readFile(join(folder, file)))
    digest.update(`${content.digest('hex')} ${file}\n`)
  }
  return digest.digest('hex')
}
