import { EyrieError, type QuarantinedPlugin } from '@eyrie/contract'
import { hashPackage } from '@eyrie/plugin-signature/package-files'
import type { KnownPlugin } from '../plugin-host/known-plugin.ts'
import type { Sandboxes } from '../plugin-host/sandbox/sandboxes.ts'
import {
  findElementCollision,
  findVersion,
  type InstalledPlugins,
  listVersions,
} from './installed-plugins.ts'
import { computeDigest } from './package-digests.ts'

/** Checks that precede changes of the installed plugins. */

/**
 * Returns an installed version of a plugin. Throws `EyrieError` (`id`) if the
 * version is not installed.
 */
export function getVersion(
  installed: InstalledPlugins,
  name: string,
  version: string,
): KnownPlugin {
  const plugin = findVersion(installed, name, version)
  if (plugin) return plugin

  const versions = listVersions(installed, name)
  const available = versions.map(candidate => candidate.version).join(', ')
  throw new EyrieError('id', `plugin ${name} has no version ${version}; available: ${available}`)
}

/** Whether an uploaded package has the same files as an installed plugin. */
export async function isIdentical(installed: KnownPlugin, uploaded: KnownPlugin): Promise<boolean> {
  const uploadedFiles = await hashPackage(uploaded.folder)
  // Rejects if the files contain links, which a package cannot contain, but a folder of the owner
  // can.
  const installedFiles = await hashPackage(installed.folder).catch(() => undefined)
  return (
    installedFiles !== undefined && computeDigest(installedFiles) === computeDigest(uploadedFiles)
  )
}

/** Throws `EyrieError` (`reference`) if pipelines use a version. `pipelines` contains their ids. */
export function assertUnused({ name, version }: KnownPlugin, pipelines: readonly number[]): void {
  if (pipelines.length === 0) return
  throw new EyrieError(
    'reference',
    `pipelines ${pipelines.join(', ')} use version ${version} of ${name}: ` +
      'change them or select another version first',
    { value: { pipelines } },
  )
}

/** Returns the alarm for a version in quarantine. */
export const describeQuarantine = ({ plugin, version, channel, reason }: QuarantinedPlugin) =>
  `version ${version} of plugin ${plugin} no longer runs on channel ${channel}, ` +
  `because it crashed repeatedly (${reason}): ` +
  `use another version, or release it with eyrie plugin release ${plugin}`

/**
 * Throws `EyrieError` (`conflict`) if another plugin has an active element of the same name
 * as one of this plugin.
 */
export function assertNoElementCollision(installed: InstalledPlugins, plugin: KnownPlugin): void {
  const collision = findElementCollision(installed, plugin)
  if (!collision) return
  throw new EyrieError(
    'conflict',
    `plugin ${collision.plugin.name} already has an element ${collision.manifest.name}`,
  )
}

/**
 * Throws `EyrieError` (`conflict`) if a version was not uploaded, so that the engine must not
 * remove it.
 */
export function assertUploaded({ name, version, origin, folder }: KnownPlugin): void {
  if (origin === 'uploaded') return
  throw new EyrieError(
    'conflict',
    origin === 'built-in'
      ? `version ${version} of ${name} is built in and cannot be removed: use another version instead`
      : `version ${version} of ${name} was not uploaded: remove it from ${folder}`,
  )
}

/**
 * Throws `EyrieError` (`conflict`) if this machine lacks boundaries that its owner requires
 * around uploaded code.
 */
export function assertIsolated(sandboxes: Pick<Sandboxes, 'findIsolationProblem'>): void {
  const problem = sandboxes.findIsolationProblem()
  if (problem !== undefined) throw new EyrieError('conflict', problem)
}

/**
 * Throws `EyrieError` (`conflict`) if a version cannot run in shadow: next to the active version,
 * on the same frames and without any effect.
 */
export function assertCanRunInShadow(
  { name, version, origin }: KnownPlugin,
  active: KnownPlugin,
): void {
  if (version === active.version && origin === active.origin) {
    throw new EyrieError(
      'conflict',
      `version ${version} of ${name} is active already: run another one in shadow`,
    )
  }
  // Versions that were not uploaded run in the engine itself, where they could have effects.
  if (origin !== 'uploaded') {
    throw new EyrieError(
      'conflict',
      `version ${version} of ${name} was not uploaded, and only uploaded versions run in shadow`,
    )
  }
}
