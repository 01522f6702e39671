import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Log } from '@eyrie/element'
import { type KnownPlugin, type Origin, readPlugin } from './known-plugin.ts'

/** A folder of plugins, and what those in it are to the engine. */
export interface PluginFolder {
  path: string
  origin: Origin
}

/** All plugins in `folders`. What is broken is logged and left out; of one version twice the first counts. */
export function discoverPlugins(folders: readonly PluginFolder[], log: Log): KnownPlugin[] {
  const found = new Map<string, KnownPlugin>()
  for (const { path, origin } of folders)
    for (const folder of pluginsIn(path)) {
      try {
        const plugin = readPlugin(folder, origin)
        const key = `${plugin.name} ${plugin.version}`
        const other = found.get(key)
        if (!other) found.set(key, plugin)
        else log.warn({ folder, known: other.folder }, 'a version of a plugin is there twice')
      } catch (error) {
        log.error({ folder, reason: (error as Error).message }, 'plugin skipped')
      }
    }
  return [...found.values()]
}

/** The folders in a folder that hold a plugin each. */
function pluginsIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .sort()
    .map(name => join(folder, name))
    .filter(path => existsSync(join(path, 'plugin.json')))
}
