import { EyrieError, type ShadowInput, type ShadowReport } from '@eyrie/contract'
import type { ShadowComparison } from '@eyrie/contract/plugin-upgrade'
import type { Configuration } from '../configuration/configuration.ts'
import type { KnownPlugin } from '../plugin-host/known-plugin.ts'
import type { StartShadow } from '../plugin-host/running-shadow.ts'
import { judgeShadow } from '../plugin-host/shadow/shadow-verdict.ts'
import { ShadowRuns } from '../upgrade/shadow-runs.ts'
import type { PluginGrants } from './grants/plugin-grants.ts'
import type { PipelineChecks } from './pipeline-checks.ts'
import { assertCanRunInShadow } from './plugin-checks.ts'
import type { PluginStore } from './plugin-store.ts'
import { migratePipelines } from './switch-plan.ts'
import type { VersionSelection } from './version-selection.ts'

/**
 * Uploaded versions of plugins that run in shadow: on the frames of the active version, without
 * any effect, for a limited time. Their results are compared with those of the active version.
 */
export interface VersionShadows {
  /** Throws `EyrieError` (`conflict`) if a version of this plugin runs in shadow already. */
  start(name: string, input: ShadowInput, client: string): Promise<ShadowReport>
  /** Throws `EyrieError` (`id`) if no version has run in shadow. */
  report(name: string): ShadowReport
  /** Ends the run, and returns its report. Throws as `report` does. */
  end(name: string): ShadowReport
  endAll(): void
  /**
   * Throws `EyrieError` (`conflict`) if the version that has run has other files now. Throws as
   * `report` does.
   */
  assertNotReplaced(name: string): void
}

export interface VersionShadowsDependencies {
  store: Pick<PluginStore, 'installed'>
  selection: Pick<VersionSelection, 'plan' | 'preview'>
  configuration: Pick<Configuration, 'get'>
  grants: Pick<PluginGrants, 'findMissing' | 'grant'>
  checks: Pick<PipelineChecks, 'assertRemainValid'>
  startShadow: StartShadow
  /** Aborted when the engine stops. */
  signal: AbortSignal
}

export function createVersionShadows({
  store,
  selection,
  configuration,
  grants,
  checks,
  startShadow,
  signal,
}: VersionShadowsDependencies): VersionShadows {
  const runs = new ShadowRuns<ShadowComparison, ShadowReport>({
    endCommand: plugin => `eyrie plugin shadow ${plugin} --end`,
    describeMissing: plugin =>
      `no version of ${plugin} has run in shadow since the engine was started`,
  })

  /** The versions that have run last, by name of the plugin. */
  const lastVersions = new Map<string, KnownPlugin>()

  const start: VersionShadows['start'] = async (name, input, client) => {
    runs.assertNotRunning(name)
    const { plugin, previous } = selection.plan(name, input)
    const { version } = plugin
    const active = previous.version
    assertCanRunInShadow(plugin, previous)

    const { pipelines, sources } = configuration.get().value
    const migrated = await migratePipelines(pipelines, { plugin, previous }, signal)
    checks.assertRemainValid(
      { pipelines, sources },
      { next: selection.preview(plugin), version, pipelines: migrated },
    )
    if (grants.findMissing(plugin).length > 0) await grants.grant(plugin, client)

    // If the engine has stopped meanwhile, nothing would end the run.
    signal.throwIfAborted()
    const { compare, end } = startShadow(plugin, migrated)
    lastVersions.set(name, plugin)
    return runs.start(name, {
      label: `version ${version} of ${name}`,
      seconds: input.seconds,
      compare,
      end,
      toReport: (progress, channels) => ({
        plugin: name,
        active,
        version,
        ...progress,
        channels,
        ...judgeShadow({ active, version }, channels),
      }),
    })
  }

  return {
    start,
    report: name => runs.report(name),
    end: name => runs.end(name),
    endAll: () => runs.endAll(),
    assertNotReplaced: name => {
      const { version } = runs.report(name)
      const isInstalled = store.installed().plugins.includes(lastVersions.get(name)!)
      if (isInstalled) return
      throw new EyrieError(
        'conflict',
        `version ${version} of ${name} was replaced after it had started in shadow: ` +
          'run it in shadow again, or accept it with force',
      )
    },
  }
}

/** Throws `EyrieError` (`conflict`) unless the version did at least as well as the active one. */
export function assertNotWorse(
  name: string,
  { version, verdict, findings }: Pick<ShadowReport, 'version' | 'verdict' | 'findings'>,
): void {
  if (verdict === 'unknown') {
    const reasons = findings.length > 0 ? ` (${findings.join('; ')})` : ''
    throw new EyrieError(
      'conflict',
      `version ${version} of ${name} has processed no frame in shadow${reasons}: ` +
        'run it on a channel that has frames, or accept it with force',
    )
  }
  if (verdict === 'worse') {
    throw new EyrieError(
      'conflict',
      `version ${version} of ${name} did worse in shadow: ${findings.join('; ')}. ` +
        'To accept it nevertheless, use force',
    )
  }
}
