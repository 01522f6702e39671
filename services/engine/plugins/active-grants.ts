import { EyrieError } from '@eyrie/contract'
import type { KnownPlugin } from '../plugin-host/known-plugin.ts'
import type { PluginGrants } from './grants/plugin-grants.ts'
import { formatRequested } from './grants/requested-capabilities.ts'
import { findActiveVersion, hasUploadedVersion, type InstalledPlugins } from './installed-plugins.ts'
import { assertSamePublisher, type SignedVersion } from './trust/package-acceptance.ts'
import { readClaim } from './trust/package-claim.ts'
import { findPublisherChange, type SignaturePolicy } from './trust/signature-policy.ts'

/** What happens to grants when the active version or the publisher of a plugin changes without anybody granting anything. */

/**
 * Aligns the grants with the installed plugins when the engine starts: withdraws those of plugins that are no longer
 * installed, and grants everything to active versions that were installed by an earlier release of the engine, which
 * had no grants.
 */
export async function alignGrants(grants: PluginGrants, installed: InstalledPlugins): Promise<void> {
  // What was granted is unknown: a person decides again.
  if (grants.damage() !== undefined) return
  for (const name of grants.names()) if (!hasUploadedVersion(installed, name)) await grants.withdraw(name)

  for (const plugin of installed.plugins) {
    const isActive = findActiveVersion(installed, plugin.name) === plugin
    if (plugin.origin !== 'uploaded' || !isActive) continue
    const hasNoGrants = grants.list(plugin.name).length === 0
    if (hasNoGrants) await grants.grant(plugin, undefined)
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
 * Accepts the publisher that has signed a version. If this is another publisher than before, the grants so far do not
 * apply to its versions. Throws `EyrieError` (`signature`) if the owner does not accept another publisher.
 */
export async function acceptPublisher(
  signed: SignedVersion,
  { uploaded, policy, grants, acceptsNewPublisher }: PublisherAcceptance,
): Promise<void> {
  const installed = uploaded.map(readClaim)
  if (!acceptsNewPublisher) return assertSamePublisher(signed, installed, policy)
  if (findPublisherChange(signed.claim, installed, policy))
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
  const remaining = installed.plugins.filter(plugin => plugin !== removed)
  const successor = findActiveVersion({ ...installed, plugins: remaining }, removed.name)
  if (!successor) return
  const missing = grants.findMissing(successor)
  if (missing.length === 0) return

  const { name, version } = successor
  throw new EyrieError(
    'conflict',
    `version ${version} of ${name} would become active, and asks for more than was granted: ` +
      `${formatRequested(missing)}. Remove it first, or use it: eyrie plugin use ${name} ${version} --grant`,
  )
}

/**
 * Lists an alarm for each active version that does not run because it asks for more than was granted. Such a version has become
 * active because the selected version is missing. If the file of grants is damaged, the alarm about it comes first.
 */
export function listGrantAlarms(grants: PluginGrants, installed: InstalledPlugins): string[] {
  const alarms: string[] = []
  const damage = grants.damage()
  if (damage !== undefined) alarms.push(damage)
  for (const plugin of installed.plugins) {
    const isActive = findActiveVersion(installed, plugin.name) === plugin
    const refusal = isActive ? grants.findRefusal(plugin) : undefined
    if (refusal) alarms.push(refusal.message)
  }
  return alarms
}
