import { EyrieError } from '@eyrie/contract'
import type { KnownPlugin } from '../plugin-host/known-plugin.ts'
import type { PluginGrants } from './grants/plugin-grants.ts'
import { formatRequested } from './grants/requested-capabilities.ts'
import {
  findActiveVersion,
  hasUploadedVersion,
  type InstalledPlugins,
  isActiveVersion,
  listActiveVersions,
} from './installed-plugins.ts'
import { assertSamePublisher, type SignedVersion } from './trust/package-acceptance.ts'
import { readClaim } from './trust/package-claim.ts'
import { findPublisherChange, type SignaturePolicy } from './trust/signature-policy.ts'

/**
 * Keeps the grants of plugins consistent with the installed versions. A grant is the permission of
 * the owner for what a version asks for, such as pictures or network access. The active version or
 * the publisher of a plugin can change without a new grant: when the engine is upgraded, a version
 * is removed, or another publisher signs the next version.
 */

/**
 * Aligns the grants with the installed plugins. Called when the engine starts. Grants of
 * plugins that are no longer installed are withdrawn. An active version without any grants was
 * installed by an earlier release of the engine, which had no grants. Such a version is granted
 * everything that it asks for.
 */
export async function alignGrants(
  grants: PluginGrants,
  installed: InstalledPlugins,
): Promise<void> {
  // If the file of grants is damaged, the earlier grants are unknown, and the owner
  // must grant them again.
  if (grants.findDamage() !== undefined) return

  for (const name of grants.listPlugins()) {
    if (!hasUploadedVersion(installed, name)) await grants.withdraw(name)
  }

  for (const plugin of listActiveVersions(installed)) {
    const hasNoGrants = grants.list(plugin.name).length === 0
    if (plugin.origin === 'uploaded' && hasNoGrants) await grants.grant(plugin, undefined)
  }
}

export interface PublisherAcceptance {
  /** The installed versions of the plugin that were uploaded. */
  uploaded: readonly KnownPlugin[]
  policy: SignaturePolicy
  grants: PluginGrants
  /** Whether the owner accepts that the plugin changes to another publisher. */
  acceptsNewPublisher: boolean
}

/**
 * Accepts the publisher that has signed a new version. If the publisher has changed, the existing
 * grants are limited to versions of the earlier publishers. Throws `EyrieError` (`signature`) if
 * the owner does not accept another publisher.
 */
export async function acceptPublisher(
  signed: SignedVersion,
  { uploaded, policy, grants, acceptsNewPublisher }: PublisherAcceptance,
): Promise<void> {
  const installed = uploaded.map(readClaim)
  if (!acceptsNewPublisher) return assertSamePublisher(signed, installed, policy)
  if (findPublisherChange(signed.claim, installed, policy)) {
    await grants.limitToPublishers(signed.name, uploaded)
  }
}

/**
 * Throws `EyrieError` (`conflict`) if removing a version would activate another one that asks for
 * more than was granted.
 */
export function assertSuccessorGranted(
  grants: PluginGrants,
  installed: InstalledPlugins,
  removed: KnownPlugin,
): void {
  if (!isActiveVersion(installed, removed)) return
  const remaining = installed.plugins.filter(plugin => plugin !== removed)
  const successor = findActiveVersion({ ...installed, plugins: remaining }, removed.name)
  if (!successor) return
  const missing = grants.findMissing(successor)
  if (missing.length === 0) return

  const { name, version } = successor
  throw new EyrieError(
    'conflict',
    `version ${version} of ${name} would become active, and asks for more than was granted: ` +
      `${formatRequested(missing)}. Remove version ${version} first, ` +
      `or grant what it asks for: eyrie plugin use ${name} ${version} --grant`,
  )
}

/**
 * Lists an alarm for each active version that does not run because it asks for more than was
 * granted. This happens if the selected version is missing, so that another version has become
 * active. If the file of grants is damaged, the alarm about the file comes first.
 */
export function listGrantAlarms(grants: PluginGrants, installed: InstalledPlugins): string[] {
  const damage = grants.findDamage()
  const alarms = damage === undefined ? [] : [damage]
  for (const plugin of listActiveVersions(installed)) {
    const refusal = grants.describeRefusal(plugin)
    if (refusal !== undefined) alarms.push(refusal)
  }
  return alarms
}
