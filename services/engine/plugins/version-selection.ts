import type { Pipeline, PluginSwitch } from '@eyrie/contract'
import type { Configuration, ConfiguredPipelines } from '../configuration/configuration.ts'
import type { KnownPlugin } from '../plugin-host/known-plugin.ts'
import type { PluginGrants } from './grants/plugin-grants.ts'
import { findActiveVersion, type InstalledPlugins } from './installed-plugins.ts'
import type { PipelineChecks } from './pipeline-checks.ts'
import { getVersion } from './plugin-checks.ts'
import type { PluginStore } from './plugin-store.ts'
import { listChangedPipelines, type PlannedSwitch } from './switch-plan.ts'
import { assertMayRun } from './trust/package-acceptance.ts'
import { readClaim } from './trust/package-claim.ts'
import type { PluginTrust } from './trust/plugin-trust.ts'
import type { ChangedPipeline, SwitchHistory } from './upgrade/switch-history.ts'

/** The version that is wanted, and whether the request grants it what it asks for. */
export type WantedVersion = Pick<PluginSwitch, 'version' | 'grant'>

/** Selects the active versions of plugins, together with the pipelines that change with them. */
export interface VersionSelection {
  /**
   * Returns the wanted version and the active one. Throws `EyrieError` if the wanted one is not
   * installed, may not run, or asks for more than was granted.
   */
  plan(name: string, wanted: WantedVersion): PlannedSwitch
  /** Returns the installed plugins as they are once this version is active. */
  preview(plugin: KnownPlugin): InstalledPlugins
  /**
   * Makes a version active, with the pipelines that `toPipelines` returns. Grants the version what
   * it asks for. Returns the pipelines that have changed. Throws `EyrieError` (`reference`) if the
   * pipelines are invalid with this version.
   */
  select(
    plugin: KnownPlugin,
    client: string | undefined,
    toPipelines: (configured: ConfiguredPipelines, next: InstalledPlugins) => Promise<Pipeline[]>,
  ): Promise<ChangedPipeline[]>
}

export interface VersionSelectionDependencies {
  store: Pick<PluginStore, 'installed' | 'select'>
  configuration: Pick<Configuration, 'runExclusive'>
  grants: Pick<PluginGrants, 'assertGranted' | 'findMissing' | 'grant'>
  trust: Pick<PluginTrust, 'policy'>
  history: Pick<SwitchHistory, 'begin'>
  checks: Pick<PipelineChecks, 'assertRemainValid'>
}

export function createVersionSelection({
  store,
  configuration,
  grants,
  trust,
  history,
  checks,
}: VersionSelectionDependencies): VersionSelection {
  function plan(name: string, { version, grant }: WantedVersion): PlannedSwitch {
    const installed = store.installed()
    const plugin = getVersion(installed, name, version)
    if (plugin.origin === 'uploaded') {
      assertMayRun({ name, version, claim: readClaim(plugin) }, trust.policy())
    }
    if (!grant) grants.assertGranted(plugin)
    // An installed plugin has an active version.
    return { plugin, previous: findActiveVersion(installed, name)! }
  }

  function preview({ name, version }: KnownPlugin): InstalledPlugins {
    const installed = store.installed()
    return { ...installed, selected: { ...installed.selected, [name]: version } }
  }

  const select: VersionSelection['select'] = async (plugin, client, toPipelines) => {
    const { name, version } = plugin
    const next = preview(plugin)
    let changed: ChangedPipeline[] = []
    await configuration.runExclusive(async configured => {
      const pipelines = await toPipelines(configured, next)
      checks.assertRemainValid(configured, { next, version, pipelines })
      if (grants.findMissing(plugin).length > 0) await grants.grant(plugin, client)

      changed = listChangedPipelines(configured.pipelines, pipelines)
      const changesPipelines = changed.length > 0
      if (changesPipelines) await history.begin(name, { to: version, pipelines: changed })
      await store.select(name, version)
      return changesPipelines ? pipelines : undefined
    })
    return changed
  }

  return { plan, preview, select }
}
