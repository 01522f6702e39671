import { EyrieError } from '@eyrie/contract'
import type { KnownPlugin } from '../plugin-host/known-plugin.ts'
import type { PluginGrants } from './grants/plugin-grants.ts'
import { formatRequested } from './grants/requested-capabilities.ts'
import { findActiveVersion, hasUploadedVersion, type InstalledPlugins } from './installed-plugins.ts'

/** Grants of the versions that are active, or become active, without a person who selects them. */

/**
 * Grants what the active versions ask for that an earlier release of the engine has installed, and withdraws the grants of
 * plugins that are no longer installed.
 */
export async function alignGrants(grants: PluginGrants, installed: InstalledPlugins): Promise<void> {
  for (const name of grants.names()) if (!hasUploadedVersion(installed, name)) await grants.withdraw(name)
  for (const plugin of installed.plugins) {
    const isActive = findActiveVersion(installed, plugin.name) === plugin
    if (plugin.origin === 'uploaded' && isActive && grants.list(plugin.name).length === 0)
      await grants.grant(plugin, undefined)
  }
}

/**
 * Throws `EyrieError` (`conflict`) if the removal of a version would activate one that asks for more than was granted.
 */
export function assertSuccessorGranted(
  grants: PluginGrants,
  installed: InstalledPlugins,
  removed: KnownPlugin,
): void {
  if (findActiveVersion(installed, removed.name) !== removed) return
  const plugins = installed.plugins.filter(plugin => plugin !== removed)
  const successor = findActiveVersion({ ...installed, plugins }, removed.name)
  const missing = successor ? grants.findMissing(successor) : []
  if (!successor || missing.length === 0) return
  const { name, version } = successor
  throw new EyrieError(
    'conflict',
    `version ${version} of ${name} would become active, and asks for more than was granted: ${formatRequested(missing)}. Remove it first, or use it: eyrie plugin use ${name} ${version} --grant`,
  )
}

/**
 * Returns an alarm for each active version that asks for more than was granted. It has become active because the selected version
 * is missing, and does not run.
 */
export const listGrantAlarms = (grants: PluginGrants, installed: InstalledPlugins): string[] =>
  installed.plugins.flatMap(plugin => {
    if (findActiveVersion(installed, plugin.name) !== plugin) return []
    const refusal = grants.findRefusal(plugin)
    return refusal ? [refusal.message] : []
  })
