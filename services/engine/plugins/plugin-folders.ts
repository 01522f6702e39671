import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { PluginFolder } from '../plugin-host/discovery.ts'

const builtIn = resolve(import.meta.dirname, '../../../plugins')

/** The owner's folders of plugins and the one that comes with Eyrie, whether or not the owner has named it. */
export function pluginFolders(named: readonly string[]): PluginFolder[] {
  const own = named.filter(path => followed(path) !== followed(builtIn))
  return [...own.map(path => ({ path, origin: 'folder' }) as const), { path: builtIn, origin: 'built-in' }]
}

function followed(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
