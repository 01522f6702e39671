import { findActiveVersion, type InstalledPlugins } from './installed-plugins.ts'
import { describeRefusal } from './trust/package-acceptance.ts'
import { readClaim } from './trust/package-claim.ts'
import type { SignaturePolicy } from './trust/signature-policy.ts'

/** An active version that does not run, because of its signature. */
export interface RefusedVersion {
  plugin: string
  version: string
  /** Why it does not run, with the remedy. */
  reason: string
}

/** Lists the active versions of uploaded plugins that a policy refuses. */
export function listRefusedVersions(installed: InstalledPlugins, policy: SignaturePolicy): RefusedVersion[] {
  return installed.plugins
    .filter(plugin => plugin.origin === 'uploaded' && findActiveVersion(installed, plugin.name) === plugin)
    .flatMap(plugin => {
      const { name, version } = plugin
      const reason = describeRefusal({ name, version, claim: readClaim(plugin) }, policy)
      return reason === undefined ? [] : [{ plugin: name, version, reason }]
    })
}
