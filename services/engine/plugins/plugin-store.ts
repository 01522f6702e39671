import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pluginName, pluginVersion } from '@eyrie/contract'
import { parseAs } from '@eyrie/contract/parse'
import { syncFolder, writeDurably } from '@eyrie/kit/durable-file'
import type { Log } from '@eyrie/kit/log'
import { z } from 'zod'
import { discoverPlugins, type PluginFolder } from '../plugin-host/discovery.ts'
import { type KnownElement, type KnownPlugin, readPlugin } from '../plugin-host/known-plugin.ts'
import { activeOf, elementsOf, type InstalledPlugins } from './installed-plugins.ts'

const choices = z.record(pluginName, pluginVersion)

/** Marks what is on its way in or out; no plugin's name begins so. */
const DRAFT = '.draft-'

export interface PluginStoreOptions {
  /** Where uploaded plugins are kept: `<folder>/<name>/<version>/`, and `active.json`. */
  folder: string
  /** Folders with plugins that were not uploaded. */
  besides: readonly PluginFolder[]
  log: Log
}

/** The plugins on the disk. Its changes come one at a time. */
export interface PluginStore {
  shelf(): InstalledPlugins
  /** What pipelines can be made of; always what `shelf` says now. */
  elements: ReadonlyMap<string, KnownElement>
  /** An empty folder beside the plugins, gone when the work is done. */
  draft<T>(work: (folder: string) => Promise<T>): Promise<T>
  /** Moves the plugin to its place. It is active if it is the first of its name. */
  add(plugin: KnownPlugin): Promise<void>
  remove(plugin: KnownPlugin): Promise<void>
  choose(name: string, version: string): Promise<void>
}

/** Reads what is there; what is broken is logged and left out. */
export function openPluginStore({ folder, besides, log }: PluginStoreOptions): PluginStore {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const entries = readdirSync(folder, { withFileTypes: true }).filter(entry => entry.isDirectory())
  for (const { name } of entries)
    if (name.startsWith(DRAFT)) rmSync(join(folder, name), { recursive: true, force: true })
  const uploaded = entries
    .filter(({ name }) => !name.startsWith(DRAFT))
    .map(({ name }) => ({ path: join(folder, name), origin: 'uploaded' }) as const)

  const file = join(folder, 'active.json')
  const elements = new Map<string, KnownElement>()
  let shelf: InstalledPlugins
  const become = (next: InstalledPlugins) => {
    shelf = next
    elements.clear()
    for (const [name, element] of elementsOf(next)) elements.set(name, element)
  }
  become({ plugins: discoverPlugins([...besides, ...uploaded], log), chosen: readChoices(file, log) })
  for (const [name, version] of Object.entries(shelf!.chosen)) {
    const active = activeOf(shelf!, name)?.version ?? 'none'
    if (active !== version) log.warn({ plugin: name, version, active }, 'the version chosen is not there')
  }

  const keep = (chosen: InstalledPlugins['chosen']) =>
    writeDurably(file, `${JSON.stringify(chosen, null, 2)}\n`)
  const placeOf = ({ name, version }: KnownPlugin) => join(folder, name, version)
  /** Takes it out of its place at one stroke; the rest may take its time. */
  const withdraw = async (path: string) => {
    const draft = join(folder, DRAFT + randomUUID())
    await rename(path, draft)
    return () => rm(draft, { recursive: true, force: true })
  }

  return {
    shelf: () => shelf,
    elements,
    draft: async work => {
      const draft = join(folder, DRAFT + randomUUID())
      await mkdir(draft)
      try {
        return await work(draft)
      } finally {
        await rm(draft, { recursive: true, force: true })
      }
    },
    add: async plugin => {
      const place = placeOf(plugin)
      await mkdir(join(folder, plugin.name), { recursive: true })
      // What could not be read at the start is no version of anything.
      if (existsSync(place)) await (await withdraw(place))()
      await rename(plugin.folder, place)
      await syncFolder(join(folder, plugin.name))
      const added = readPlugin(place, 'uploaded')
      const { version } = activeOf(shelf, plugin.name) ?? added
      const chosen = { ...shelf.chosen, [plugin.name]: version }
      become({ plugins: [...shelf.plugins, added], chosen })
      await keep(chosen)
    },
    remove: async plugin => {
      const clear = await withdraw(plugin.folder)
      const { [plugin.name]: choice, ...others } = shelf.chosen
      const chosen = choice === plugin.version ? others : shelf.chosen
      become({ plugins: shelf.plugins.filter(other => other !== plugin), chosen })
      await keep(chosen)
      await clear()
    },
    choose: async (name, version) => {
      const chosen = { ...shelf.chosen, [name]: version }
      await keep(chosen)
      become({ ...shelf, chosen })
    },
  }
}

/** A damaged file costs the choices, not the engine. */
function readChoices(file: string, log: Log): InstalledPlugins['chosen'] {
  if (!existsSync(file)) return {}
  try {
    return parseAs(choices, JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    log.error({ file, reason: (error as Error).message }, 'the choice of plugin versions is damaged')
    return {}
  }
}
