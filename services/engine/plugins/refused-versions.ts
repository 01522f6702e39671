import type { KnownPlugin } from '../plugin-host/known-plugin.ts'
import { type InstalledPlugins, isActiveVersion } from './installed-plugins.ts'
import { describeRefusal } from './trust/package-acceptance.ts'
import { readClaim } from './trust/package-claim.ts'
import type { SignaturePolicy } from './trust/signature-policy.ts'

/** An active or pinned version that does not run, because of its signature. */
export interface RefusedVersion {
  plugin: string
  version: string
  /** Why it does not run, with the remedy. */
  reason: string
}

/**
 * Lists the versions of uploaded plugins that a policy refuses, and that are active
 * or used by a pipeline.
 */
export function listRefusedVersions(
  installed: InstalledPlugins,
  policy: SignaturePolicy,
  isUsed: (plugin: KnownPlugin) => boolean,
): RefusedVersion[] {
  return installed.plugins
    .filter(({ origin }) => origin === 'uploaded')
    .filter(plugin => isActiveVersion(installed, plugin) || isUsed(plugin))
    .flatMap(plugin => {
      const { name, version } = plugin
      const reason = describeRefusal({ name, version, claim: readClaim(plugin) }, policy)
      return reason === undefined ? [] : [{ plugin: name, version, reason }]
    })
}
