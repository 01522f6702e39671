import { EyrieError, type QuarantinedPlugin } from '@eyrie/contract'
import { hashPackage } from '@eyrie/plugin-signature/package-files'
import type { KnownPlugin } from '../plugin-host/known-plugin.ts'
import type { Sandboxes } from '../plugin-host/sandbox/sandboxes.ts'
import { findElementCollision, type InstalledPlugins, listVersions } from './installed-plugins.ts'
import { computeDigest } from './package-digests.ts'

/** Checks before the installed plugins are changed. */

/** Throws `EyrieError` (`id`) if the version is not installed. */
export function getVersion(installed: InstalledPlugins, name: string, version: string): KnownPlugin {
  const versions = listVersions(installed, name)
  const plugin = versions.find(candidate => candidate.version === version)
  if (plugin) return plugin

  const available = versions.map(candidate => candidate.version).join(', ')
  throw new EyrieError('id', `plugin ${name} has no version ${version}; available: ${available}`)
}

/** A plugin that contains links, which only a folder of the owner can, is identical to no package. */
export async function isIdentical(existing: KnownPlugin, plugin: KnownPlugin): Promise<boolean> {
  const digest = computeDigest(await hashPackage(plugin.folder))
  const files = await hashPackage(existing.folder).catch(() => undefined)
  return files !== undefined && computeDigest(files) === digest
}

/** `users` are the ids of the pipelines that use the plugin. */
export function assertUnused({ name, version }: KnownPlugin, users: readonly number[]): void {
  if (users.length === 0) return
  throw new EyrieError(
    'reference',
    `pipelines ${users.join(', ')} use version ${version} of ${name}: change them or select another version first`,
    { value: { pipelines: users } },
  )
}

export const describeQuarantine = ({ plugin, version, channel, reason }: QuarantinedPlugin) =>
  `version ${version} of plugin ${plugin} no longer runs on channel ${channel}, because it crashed repeatedly (${reason}): use another version, or release it with eyrie plugin release ${plugin}`

export function assertNoElementCollision(installed: InstalledPlugins, plugin: KnownPlugin): void {
  const collision = findElementCollision(installed, plugin)
  if (!collision) return
  throw new EyrieError(
    'conflict',
    `plugin ${collision.plugin.name} already has an element ${collision.manifest.name}`,
  )
}

export function assertUploaded({ name, version, origin, folder }: KnownPlugin): void {
  if (origin === 'uploaded') return
  throw new EyrieError(
    'conflict',
    origin === 'built-in'
      ? `version ${version} of ${name} is built in and cannot be removed: use another version instead`
      : `version ${version} of ${name} was not uploaded: remove it from ${folder}`,
  )
}

/** Uploaded code runs only within the boundaries that the owner of the machine accepts. */
export function assertIsolated(sandboxes: Pick<Sandboxes, 'assertIsolated'>): void {
  const refusal = findRefusal(sandboxes)
  if (refusal !== undefined) throw new EyrieError('conflict', refusal)
}

/** Returns why uploaded code does not run on this machine; undefined if it does. */
export function findRefusal(sandboxes: Pick<Sandboxes, 'assertIsolated'>): string | undefined {
  try {
    sandboxes.assertIsolated()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** Other versions run in threads of the engine, where they could have effects. */
export function assertCanRunInShadow({ name, version, origin }: KnownPlugin, active: KnownPlugin): void {
  if (version === active.version && origin === active.origin)
    throw new EyrieError(
      'conflict',
      `version ${version} of ${name} is active already: run another one in shadow`,
    )
  if (origin === 'uploaded') return
  throw new EyrieError(
    'conflict',
    `version ${version} of ${name} was not uploaded, and only uploaded versions run in shadow`,
  )
}
