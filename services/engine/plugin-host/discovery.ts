import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Log } from '@eyrie/element'
import { type KnownPlugin, type Origin, readPlugin } from './known-plugin.ts'

/** A folder of plugins with a common origin. */
export interface PluginFolder {
  path: string
  origin: Origin
}

/** Reads all plugins in `folders`. Broken ones are logged and skipped. Of duplicate versions, the first is used. */
export function discoverPlugins(folders: readonly PluginFolder[], log: Log): KnownPlugin[] {
  const plugins = new Map<string, KnownPlugin>()
  for (const { path, origin } of folders)
    for (const folder of listPluginFolders(path)) {
      try {
        const plugin = readPlugin(folder, origin)
        const key = `${plugin.name} ${plugin.version}`
        const duplicate = plugins.get(key)
        if (!duplicate) plugins.set(key, plugin)
        else log.warn({ folder, used: duplicate.folder }, 'ignoring duplicate plugin version')
      } catch (error) {
        log.error({ folder, reason: (error as Error).message }, 'failed to read plugin')
      }
    }
  return [...plugins.values()]
}

function listPluginFolders(parent: string): string[] {
  if (!existsSync(parent)) return []
  return readdirSync(parent)
    .sort()
    .map(name => join(parent, name))
    .filter(path => existsSync(join(path, 'plugin.json')))
}
