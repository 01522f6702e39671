import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { EyrieError, type Plugin } from '@eyrie/contract'
import { syntaxError } from '@eyrie/contract/parse'
import type { Catalog } from '../catalog/catalog.ts'
import type { Configuration } from '../configuration/configuration.ts'
import { etagOf, requireMatch, type Tagged } from '../configuration/etag.ts'
import { type KnownElement, type KnownPlugin, readPlugin } from '../plugin-host/known-plugin.ts'
import { inspectElements } from './inspection.ts'
import {
  activeOf,
  allShown,
  collisionOf,
  elementsOf,
  type InstalledPlugins,
  shown,
  versionsOf,
} from './installed-plugins.ts'
import type { PluginStore } from './plugin-store.ts'
import { misfitsOf, usersOf } from './plugin-users.ts'
import { type UnpackLimits, unpack } from './unpack.ts'

export interface PluginsDependencies {
  store: PluginStore
  /** The catalog as it would be with these elements. */
  catalogOf(elements: ReadonlyMap<string, KnownElement>): Catalog
  configuration: Pick<Configuration, 'between'>
  limits: UnpackLimits
}

/** The plugins of the engine. Each change is whole or does not happen, and costs channels that do not use it nothing. */
export interface Plugins {
  list(): Tagged<Plugin[]>
  get(name: string): Tagged<Plugin>
  /** Adds a version; it is active if it is the first of its name. `unchanged` where the very same was there. */
  upload(archive: Uint8Array, ifMatch?: string): Promise<Tagged<Plugin> & { unchanged: boolean }>
  use(name: string, version: string, ifMatch?: string): Promise<Tagged<Plugin>>
  remove(name: string, version: string, ifMatch?: string): Promise<void>
  /** Ends what is still being looked into. */
  stop(): void
}

export function createPlugins({ store, catalogOf, configuration, limits }: PluginsDependencies): Plugins {
  const stopping = new AbortController()
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work)
    last = done.catch(() => {})
    return done
  }

  const tagged = <T>(value: T): Tagged<T> => ({ value, etag: etagOf('plugins', value) })
  const list = () => tagged(allShown(store.shelf()))
  const get = (name: string) => {
    const found = shown(store.shelf(), name)
    if (!found) throw new EyrieError('id', `there is no plugin ${name}`)
    return tagged(found)
  }
  const find = (name: string, version: string): KnownPlugin => {
    const versions = versionsOf(store.shelf(), get(name).value.name)
    const found = versions.find(plugin => plugin.version === version)
    if (found) return found
    const there = versions.map(plugin => plugin.version).join(', ')
    throw new EyrieError('id', `plugin ${name} has no version ${version}; there is: ${there}`)
  }

  const install = async (plugin: KnownPlugin): Promise<boolean> => {
    const shelf = store.shelf()
    const same = versionsOf(shelf, plugin.name).find(({ version }) => version === plugin.version)
    if (same) {
      if ((await contentDigest(same.folder)) === (await contentDigest(plugin.folder))) return false
      throw new EyrieError(
        'conflict',
        `version ${plugin.version} of ${plugin.name} is there with other content: give yours another version`,
      )
    }
    const isFirst = !activeOf(shelf, plugin.name)
    if (isFirst) requireOwnElements(shelf, plugin)
    await inspectElements(plugin, stopping.signal)
    // Only the first is active at once, and may be what a channel has been waiting for.
    if (isFirst) await configuration.between(() => store.add(plugin))
    else await store.add(plugin)
    return true
  }

  return {
    list,
    get,
    upload: (archive, ifMatch) =>
      inTurn(() =>
        store.draft(async draft => {
          requireMatch(ifMatch, list().etag)
          const plugin = readPackaged(await unpack(archive, draft, limits))
          const isNew = await install(plugin)
          return { ...get(plugin.name), unchanged: !isNew }
        }),
      ),

    use: (name, version, ifMatch) =>
      inTurn(async () => {
        requireMatch(ifMatch, get(name).etag)
        const plugin = find(name, version)
        const before = store.shelf()
        if (activeOf(before, name) === plugin) return get(name)
        requireOwnElements(before, plugin)
        const after: InstalledPlugins = { ...before, chosen: { ...before.chosen, [name]: version } }
        await configuration.between(async configured => {
          const [now, then] = [store.elements, elementsOf(after)].map(catalogOf)
          const misfits = misfitsOf(configured, now!, then!)
          if (misfits.length > 0) {
            const reasons = misfits.map(({ reason }) => reason).join('; ')
            throw new EyrieError(
              'reference',
              `version ${version} does not take what pipelines give: ${reasons}`,
              {
                value: { pipelines: misfits.map(({ pipeline }) => pipeline) },
              },
            )
          }
          await store.choose(name, version)
        })
        return get(name)
      }),

    remove: (name, version, ifMatch) =>
      inTurn(async () => {
        requireMatch(ifMatch, get(name).etag)
        const plugin = find(name, version)
        if (plugin.origin !== 'uploaded') throw new EyrieError('conflict', keptBecause(plugin))
        await configuration.between(async ({ pipelines }) => {
          const users = usersOf(plugin, pipelines, store.elements)
          if (users.length > 0)
            throw new EyrieError(
              'reference',
              `pipelines ${users.join(', ')} use version ${version} of ${name}: change them or the version first`,
              {
                value: { pipelines: users },
              },
            )
          await store.remove(plugin)
        })
      }),

    stop: () => stopping.abort(),
  }
}

function readPackaged(folder: string): KnownPlugin {
  try {
    return readPlugin(folder, 'uploaded')
  } catch (cause) {
    throw syntaxError('', (cause as Error).message, { cause })
  }
}

function requireOwnElements(shelf: InstalledPlugins, plugin: KnownPlugin): void {
  const other = collisionOf(shelf, plugin)
  if (!other) return
  const { manifest, plugin: owner } = other
  throw new EyrieError('conflict', `plugin ${owner.name} has an element ${manifest.name} already`)
}

const keptBecause = ({ name, version, origin, folder }: KnownPlugin) =>
  origin === 'built-in'
    ? `version ${version} of ${name} is built in: switch to another one instead`
    : `version ${version} of ${name} was not uploaded: it lies in ${folder}`

/** SHA-256 over the names and contents of all files in a folder: equal for equal content. */
async function contentDigest(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter(entry => entry.isFile())
    .map(entry => relative(folder, join(entry.parentPath, entry.name)))
    .sort()
  const sum = createHash('sha256')
  for (const file of files) {
    const content = createHash('sha256').update(await readFile(join(folder, file)))
    sum.update(`${content.digest('hex')} ${file}\n`)
  }
  return sum.digest('hex')
}
