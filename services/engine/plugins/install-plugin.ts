import { EyrieError, isDevelopmentVersion } from '@eyrie/contract'
import type { Configuration, ConfiguredPipelines } from '../configuration/configuration.ts'
import type { KnownPlugin } from '../plugin-host/known-plugin.ts'
import type { PluginQuarantine } from '../plugin-host/sandbox/plugin-quarantine.ts'
import type { Sandboxes } from '../plugin-host/sandbox/sandboxes.ts'
import { acceptPublisher } from './active-grants.ts'
import type { PluginGrants } from './grants/plugin-grants.ts'
import { inspectElements } from './inspect-elements.ts'
import {
  findActiveVersion,
  findVersion,
  hasUploadedVersion,
  isActiveVersion,
  listVersions,
} from './installed-plugins.ts'
import type { PipelineChecks } from './pipeline-checks.ts'
import { assertIsolated, assertNoElementCollision, isIdentical } from './plugin-checks.ts'
import type { PluginStore } from './plugin-store.ts'
import { assertAccepted } from './trust/package-acceptance.ts'
import type { PackageClaim } from './trust/package-claim.ts'
import type { PluginTrust } from './trust/plugin-trust.ts'

export interface InstallOptions {
  /** IP address of the client. */
  client: string
  /** Whether the plugin may change to another publisher than that of its installed versions. */
  acceptsNewPublisher?: boolean
}

/**
 * Installs a version of a plugin from a draft folder. `claim` says who has signed the package. The
 * first version becomes active, and is granted what it asks for. An installed version is replaced
 * only if it is a development version. Returns `unchanged` if the version is already installed
 * with the same content.
 */
export type InstallPlugin = (
  plugin: KnownPlugin,
  claim: PackageClaim,
  options: InstallOptions,
) => Promise<'installed' | 'unchanged'>

export interface InstallerDependencies {
  store: PluginStore
  configuration: Pick<Configuration, 'runExclusive'>
  quarantine: Pick<PluginQuarantine, 'release'>
  /** What the owner permits each plugin, such as network access. */
  grants: PluginGrants
  /** Whose signatures the owner requires. */
  trust: Pick<PluginTrust, 'policy'>
  sandboxes: Pick<Sandboxes, 'findIsolationProblem' | 'findSdkCode'>
  /** Rejects changes with which the configured pipelines would not work. */
  checks: PipelineChecks
  /** Aborts the inspection of plugins. */
  signal: AbortSignal
}

/** Returns the function that installs plugins. Callers must not install two at the same time. */
export function createInstaller({
  store,
  configuration,
  quarantine,
  grants,
  trust,
  sandboxes,
  checks,
  signal,
}: InstallerDependencies): InstallPlugin {
  const install: InstallPlugin = async (plugin, claim, { client, acceptsNewPublisher = false }) => {
    const installed = store.installed()
    const { name, version } = plugin
    const existing = findVersion(installed, name, version)
    if (existing && (await isIdentical(existing, plugin))) return 'unchanged'
    if (existing && !isDevelopmentVersion(version)) {
      throw new EyrieError(
        'conflict',
        `version ${version} of ${name} already exists with different content: ` +
          'upload it as another version, ' +
          `or as a development version such as ${version}-dev, which later uploads replace`,
      )
    }

    const policy = trust.policy()
    assertAccepted({ name, version, claim }, policy)
    const uploaded = listVersions(installed, name).filter(({ origin }) => origin === 'uploaded')
    await acceptPublisher(
      { name, version, claim },
      { uploaded, policy, grants, acceptsNewPublisher },
    )

    if (existing) await replace(existing, plugin)
    else await add(plugin, client)
    return 'installed'
  }

  /** Adds a version next to the installed versions of the plugin, or as its first version. */
  async function add(plugin: KnownPlugin, client: string): Promise<void> {
    const installed = store.installed()
    const { name } = plugin
    const isFirst = !findActiveVersion(installed, name)
    if (isFirst) assertNoElementCollision(installed, plugin)
    await assertRunnable(plugin)
    if (!hasUploadedVersion(installed, name)) {
      // An earlier installation that failed may have left grants.
      await grants.withdraw(name)
      await grants.grant(plugin, client)
    }

    await changeStore(async configured => {
      // The first version becomes active, and channels that wait for its elements start. A further
      // version is used only by pipelines that pin its number, as in `name@1.2`.
      if (!isFirst) checks.assertFollowersAccept(configured, plugin)
      await store.add(plugin)
    })
  }

  /** Replaces the files of a development version. Its channels restart with the new code. */
  async function replace(existing: KnownPlugin, plugin: KnownPlugin): Promise<void> {
    const { name, version, origin } = existing
    if (origin !== 'uploaded') {
      throw new EyrieError(
        'conflict',
        `version ${version} of ${name} was not uploaded: change its files in ${existing.folder}`,
      )
    }
    await assertRunnable(plugin)

    const installed = store.installed()
    const plugins = installed.plugins.map(other => (other === existing ? plugin : other))
    if (isActiveVersion(installed, existing)) {
      assertNoElementCollision({ ...installed, plugins }, plugin)
    }
    await changeStore(async configured => {
      checks.assertRemainValid(configured, { next: { ...installed, plugins }, version })
      await store.replace(existing, plugin)
    })
    // The crashes of the replaced code say nothing about the new code.
    quarantine.release(name, version)
  }

  /** Throws `EyrieError` if the plugin cannot be isolated on this machine, or does not load. */
  async function assertRunnable(plugin: KnownPlugin): Promise<void> {
    assertIsolated(sandboxes)
    await inspectElements(plugin, { codeFolder: sandboxes.findSdkCode(), signal })
  }

  /**
   * Changes the stored plugins while nothing edits the configuration. The channels then start or
   * restart according to the new plugins. The configured pipelines remain as they are.
   */
  const changeStore = (change: (configured: ConfiguredPipelines) => Promise<void>) =>
    configuration.runExclusive(async configured => {
      await change(configured)
      return undefined
    })

  return install
}
