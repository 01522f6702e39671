import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pluginName, pluginVersion } from '@eyrie/contract'
import { syncFolder, writeDurably } from '@eyrie/kit/durable-file'
import { readJsonFile } from '@eyrie/kit/json-file'
import type { Log } from '@eyrie/kit/log'
import { z } from 'zod'
import { discoverPlugins, type PluginFolder } from '../plugin-host/discovery.ts'
import type { KnownElements } from '../plugin-host/known-elements.ts'
import { type KnownPlugin, readPlugin } from '../plugin-host/known-plugin.ts'
import { ElementIndex } from './element-index.ts'
import { findActiveVersion, type InstalledPlugins } from './installed-plugins.ts'
import { openPackageDigests } from './package-digests.ts'
import { type PackageClaim, readClaim, verifyClaim } from './trust/package-claim.ts'

/** Prefix of temporary folders. A plugin name never begins with a dot. */
const DRAFT_PREFIX = '.draft-'
const BUILT_IN_FOLDER = resolve(import.meta.dirname, '../../../plugins')

/** The version that the user has selected, by plugin name. */
const selection = z.record(pluginName, pluginVersion)

/** Where plugins are stored. A plugin provides elements, which are the steps of pipelines. */
export interface PluginStoreOptions {
  /**
   * Folder of uploaded plugins (`<folder>/<name>/<version>/`) and of the selected
   * versions (`active.json`).
   */
  folder: string
  /** Folders of plugins that were not uploaded. */
  otherFolders: readonly PluginFolder[]
  log: Log
}

/**
 * The installed plugins on disk, and which of their versions is active. Callers must not make two
 * changes at the same time.
 */
export interface PluginStore {
  installed(): InstalledPlugins
  /** The elements that pipelines can use. Every change updates this object in place. */
  elements: KnownElements
  /**
   * Calls `work` with an empty folder on the same file system as the plugins, and deletes
   * the folder afterwards.
   */
  withDraftFolder<T>(work: (folder: string) => Promise<T>): Promise<T>
  /**
   * Moves the plugin from a draft folder into the store. The first version of a
   * plugin becomes active.
   */
  add(plugin: KnownPlugin): Promise<void>
  /** Replaces an uploaded version by the same version in a draft folder. */
  replace(existing: KnownPlugin, plugin: KnownPlugin): Promise<void>
  remove(plugin: KnownPlugin): Promise<void>
  select(name: string, version: string): Promise<void>
  /**
   * Returns who has signed an uploaded plugin, according to its signature;
   * `verifyPackage` compares its files.
   */
  readClaim(name: string, version: string): PackageClaim
  /**
   * Returns who has signed an uploaded plugin. Throws an `Error` if its files have changed since it
   * was installed, or since it was signed.
   */
  verifyPackage(name: string, version: string): Promise<PackageClaim>
}

/** Opens the store and reads the installed plugins. Logs and skips broken plugins. */
export function createPluginStore({ folder, otherFolders, log }: PluginStoreOptions): PluginStore {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const selectionFile = join(folder, 'active.json')
  const uploadFolders = readUploadFolders(folder)
  const digests = openPackageDigests(folder, log)

  let installed: InstalledPlugins = {
    plugins: discoverPlugins([...otherFolders, ...uploadFolders], log),
    selected: readSelection(selectionFile, log),
  }
  const elements = new ElementIndex(installed)
  warnOfMissingVersions(installed, log)

  function update(next: InstalledPlugins): void {
    installed = next
    elements.update(next)
  }

  const saveSelection = (selected: InstalledPlugins['selected']) =>
    writeDurably(selectionFile, `${JSON.stringify(selected, null, 2)}\n`)

  const createDraftPath = () => join(folder, DRAFT_PREFIX + randomUUID())

  /**
   * Removes the folder of a plugin atomically by renaming it. Returns the path of the draft folder,
   * which can then be deleted.
   */
  async function moveToDraft(pluginFolder: string): Promise<string> {
    const draft = createDraftPath()
    await rename(pluginFolder, draft)
    return draft
  }

  return {
    installed: () => installed,
    elements,
    withDraftFolder: async work => {
      const draft = createDraftPath()
      await mkdir(draft)
      try {
        return await work(draft)
      } finally {
        await deleteFolder(draft)
      }
    },
    add: async plugin => {
      const { name, version } = plugin
      const target = join(folder, name, version)
      await mkdir(join(folder, name), { recursive: true })

      // If the folder exists already, it contains a broken plugin that was skipped at the start.
      if (existsSync(target)) await deleteFolder(await moveToDraft(target))
      await rename(plugin.folder, target)
      try {
        await syncFolder(join(folder, name))
        await digests.record(name, version)
        const added = readPlugin(target, 'uploaded')
        const active = findActiveVersion(installed, name) ?? added
        const selected = { ...installed.selected, [name]: active.version }
        await saveSelection(selected)
        update({ plugins: [...installed.plugins, added], selected })
      } catch (error) {
        // On a full disk, nothing must remain: it would be installed at the next start.
        await deleteFolder(target)
        throw error
      }
    },
    replace: async (existing, plugin) => {
      const { name, version, folder: target } = existing
      const draft = await moveToDraft(target)
      try {
        await rename(plugin.folder, target)
        await syncFolder(join(folder, name))
        await digests.record(name, version)
      } catch (error) {
        await deleteFolder(target)
        await rename(draft, target)
        throw error
      }
      const replacement = readPlugin(target, 'uploaded')
      const plugins = installed.plugins.map(other => (other === existing ? replacement : other))
      update({ ...installed, plugins })
      await deleteFolder(draft)
    },
    remove: async plugin => {
      // First of all, because a full disk would refuse what is written afterwards.
      await deleteFolder(await moveToDraft(plugin.folder))
      const { [plugin.name]: selectedVersion, ...others } = installed.selected
      const selected = selectedVersion === plugin.version ? others : installed.selected
      update({ plugins: installed.plugins.filter(other => other !== plugin), selected })
      await saveSelection(selected)
      await digests.delete(plugin.name, plugin.version)
    },
    readClaim: (name, version) => {
      const plugin = installed.plugins.find(
        each => each.origin === 'uploaded' && each.name === name && each.version === version,
      )
      return plugin ? readClaim(plugin) : { state: 'unsigned' }
    },
    verifyPackage: async (name, version) =>
      verifyClaim(join(folder, name, version), await digests.verify(name, version)),
    select: async (name, version) => {
      const selected = { ...installed.selected, [name]: version }
      await saveSelection(selected)
      update({ ...installed, selected })
    },
  }
}

/**
 * Returns the plugin folders of the user, then the folder of the built-in plugins, which the user
 * may have configured, too.
 */
export function listPluginFolders(configured: readonly string[]): PluginFolder[] {
  const userFolders = configured.filter(
    path => resolveLinks(path) !== resolveLinks(BUILT_IN_FOLDER),
  )
  return [
    ...userFolders.map((path): PluginFolder => ({ path, origin: 'folder' })),
    { path: BUILT_IN_FOLDER, origin: 'built-in' },
  ]
}

/** Lists the folders of uploaded plugins and deletes the drafts of interrupted changes. */
function readUploadFolders(folder: string): PluginFolder[] {
  const uploadFolders: PluginFolder[] = []
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue
    const path = join(folder, entry.name)
    if (entry.name.startsWith(DRAFT_PREFIX)) rmSync(path, { recursive: true, force: true })
    else uploadFolders.push({ path, origin: 'uploaded' })
  }
  return uploadFolders
}

/** If the file is damaged, the selection is reset, so that the engine can start. */
function readSelection(file: string, log: Log): InstalledPlugins['selected'] {
  try {
    return readJsonFile(file, selection) ?? {}
  } catch (error) {
    log.error({ file, reason: (error as Error).message }, 'failed to read selected plugin versions')
    return {}
  }
}

function warnOfMissingVersions(installed: InstalledPlugins, log: Log): void {
  for (const [plugin, version] of Object.entries(installed.selected)) {
    const active = findActiveVersion(installed, plugin)?.version ?? 'none'
    if (active !== version) {
      log.warn({ plugin, version, active }, 'selected plugin version is not installed')
    }
  }
}

function resolveLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

const deleteFolder = (path: string) => rm(path, { recursive: true, force: true })
