import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Log } from '@eyrie/element'
import { type KnownPlugin, type Origin, readPlugin } from './known-plugin.ts'

/** A folder whose sub-folders are plugins, which provide the elements (steps) of pipelines. */
export interface PluginFolder {
  path: string
  origin: Origin
}

/**
 * Reads all plugins in `folders`. Logs and skips broken plugins. Of duplicate versions, the
 * first version is used.
 */
export function discoverPlugins(folders: readonly PluginFolder[], log: Log): KnownPlugin[] {
  const plugins = new Map<string, KnownPlugin>()
  for (const { path, origin } of folders) {
    for (const folder of listPluginFolders(path)) {
      const plugin = tryReadPlugin(folder, origin, log)
      if (!plugin) continue

      const key = `${plugin.name} ${plugin.version}`
      const duplicate = plugins.get(key)
      if (duplicate) {
        log.warn({ folder, used: duplicate.folder }, 'ignoring duplicate plugin version')
      } else {
        plugins.set(key, plugin)
      }
    }
  }
  return [...plugins.values()]
}

function tryReadPlugin(folder: string, origin: Origin, log: Log): KnownPlugin | undefined {
  try {
    return readPlugin(folder, origin)
  } catch (error) {
    log.error({ folder, reason: (error as Error).message }, 'failed to read plugin')
    return undefined
  }
}

function listPluginFolders(parent: string): string[] {
  if (!existsSync(parent)) return []
  return readdirSync(parent)
    .sort()
    .map(name => join(parent, name))
    .filter(path => existsSync(join(path, 'plugin.json')))
}
