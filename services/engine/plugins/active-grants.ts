import { EyrieError } from '@eyrie/contract'
import type { KnownPlugin } from '../plugin-host/known-plugin.ts'
import type { PluginGrants } from './grants/plugin-grants.ts'
import { formatRequested } from './grants/requested-capabilities.ts'
import { findActiveVersion, hasUploadedVersion, type InstalledPlugins } from './installed-plugins.ts'
import { assertSamePublisher, type SignedVersion } from './trust/package-acceptance.ts'
import { readClaim } from './trust/package-claim.ts'
import { findPublisherChange, type SignaturePolicy } from './trust/signature-policy.ts'

/** Grants of versions that are installed or become active without a person who grants what they ask for. */

/**
 * Grants what the active versions ask for that an earlier release of the engine has installed, and withdraws the grants of
 * plugins that are no longer installed.
 */
export async function alignGrants(grants: PluginGrants, installed: InstalledPlugins): Promise<void> {
  // What was granted is unknown: a person decides again.
  if (grants.damage() !== undefined) return
  for (const name of grants.names()) if (!hasUploadedVersion(installed, name)) await grants.withdraw(name)
  for (const plugin of installed.plugins) {
    const isActive = findActiveVersion(installed, plugin.name) === plugin
    if (plugin.origin === 'uploaded' && isActive && grants.list(plugin.name).length === 0)
      await grants.grant(plugin, undefined)
  }
}

export interface PublisherAcceptance {
  /** The installed versions of the plugin that were uploaded. */
  uploaded: readonly KnownPlugin[]
  policy: SignaturePolicy
  grants: PluginGrants
  /** Whether the owner accepts that the plugin has another publisher now. */
  acceptsNewPublisher: boolean
}

/**
 * Accepts who has signed a version. If the plugin gets another publisher, what it was granted remains with the previous one.
 * Throws `EyrieError` (`signature`) if the owner does not accept that.
 */
export async function acceptPublisher(
  signed: SignedVersion,
  { uploaded, policy, grants, acceptsNewPublisher }: PublisherAcceptance,
): Promise<void> {
  const installed = uploaded.map(readClaim)
  if (!acceptsNewPublisher) assertSamePublisher(signed, installed, policy)
  else if (findPublisherChange(signed.claim, installed, policy))
    await grants.limitToPublishers(signed.name, uploaded)
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
export function listGrantAlarms(grants: PluginGrants, installed: InstalledPlugins): string[] {
  const damage = grants.damage()
  const refusals = installed.plugins.flatMap(plugin => {
    if (findActiveVersion(installed, plugin.name) !== plugin) return []
    const refusal = grants.findRefusal(plugin)
    return refusal ? [refusal.message] : []
  })
  return [...(damage === undefined ? [] : [damage]), ...refusals]
}
