import type {
  Plugin,
  PluginSwitch,
  ShadowAcceptance,
  ShadowInput,
  ShadowReport,
  VersionSwitch,
} from '@eyrie/contract'
import { assertIfMatch } from '@eyrie/kit/if-match'
import type { Log } from '@eyrie/kit/log'
import type { Mutex } from 'async-mutex'
import type { Configuration } from '../configuration/configuration.ts'
import type { WithEtag } from '../configuration/etag.ts'
import type { StartShadow } from '../plugin-host/running-shadow.ts'
import { findRevertReason, summarizeBefore } from '../upgrade/revert-rule.ts'
import type { VersionHealth } from '../upgrade/version-health.ts'
import type { PluginGrants } from './grants/plugin-grants.ts'
import { findActiveVersion } from './installed-plugins.ts'
import type { PipelineChecks } from './pipeline-checks.ts'
import { assertNoElementCollision } from './plugin-checks.ts'
import type { PluginStore } from './plugin-store.ts'
import { editPipelines, migratePipelines, repeatChanges, restorePipelines } from './switch-plan.ts'
import type { PluginTrust } from './trust/plugin-trust.ts'
import type { SwitchHistory, SwitchWatch, UnfinishedSwitch } from './upgrade/switch-history.ts'
import { createVersionSelection } from './version-selection.ts'
import { assertNotWorse, createVersionShadows } from './version-shadows.ts'

/**
 * Switches of the active versions of plugins: by a person, after a run in shadow, or back by the
 * engine.
 */
export interface VersionSwitches {
  /**
   * Makes a version active, with the arguments that it migrates, and edits pipelines. Throws
   * `EyrieError`: `reference` if it is incompatible with existing pipelines, `grant` if it asks for
   * more than was granted.
   */
  use(
    name: string,
    selection: PluginSwitch,
    client: string,
    ifMatch?: string,
  ): Promise<WithEtag<Plugin>>
  /** Lists the switches of the active version, oldest first. */
  listSwitches(name: string): VersionSwitch[]
  /**
   * Runs an uploaded version on the frames of the active one, without any effect, for a limited
   * time.
   */
  startShadow(name: string, input: ShadowInput, client: string): Promise<ShadowReport>
  getShadow(name: string): ShadowReport
  endShadow(name: string): ShadowReport
  /**
   * Ends the run in shadow, and makes its version active. Throws `EyrieError` (`conflict`) if
   * the version did worse, or was replaced since.
   */
  acceptShadow(
    name: string,
    acceptance: ShadowAcceptance,
    client: string,
  ): Promise<WithEtag<Plugin>>
  /**
   * Switches back from a version that fails more than the one before. Called after each
   * failure of the plugin.
   */
  reviewSwitch(name: string): void
  /** Changes the pipelines of switches during which the engine has ended. */
  completeSwitches(): Promise<void>
  stop(): void
}

export interface VersionSwitchesDependencies {
  store: Pick<PluginStore, 'installed' | 'select'>
  configuration: Pick<Configuration, 'get' | 'runExclusive'>
  grants: PluginGrants
  trust: Pick<PluginTrust, 'policy'>
  startShadow: StartShadow
  history: SwitchHistory
  health: Pick<VersionHealth, 'summarize'>
  checks: PipelineChecks
  /** Prevents two changes of plugins at the same time. */
  mutex: Mutex
  /** Returns the description of a plugin. Throws `EyrieError` (`id`) if it is not installed. */
  get(name: string): WithEtag<Plugin>
  log: Log
}

export function createVersionSwitches({
  store,
  configuration,
  grants,
  trust,
  startShadow,
  history,
  health,
  checks,
  mutex,
  get,
  log,
}: VersionSwitchesDependencies): VersionSwitches {
  const stopping = new AbortController()
  const { signal } = stopping
  const selection = createVersionSelection({ store, configuration, grants, trust, history, checks })
  const shadows = createVersionShadows({
    store,
    selection,
    configuration,
    grants,
    checks,
    startShadow,
    signal,
  })

  const use: VersionSwitches['use'] = (name, input, client, ifMatch) =>
    mutex.runExclusive(() => {
      assertIfMatch(ifMatch, get(name).etag)
      return switchTo(name, input, client)
    })

  async function switchTo(
    name: string,
    input: PluginSwitch,
    client: string,
  ): Promise<WithEtag<Plugin>> {
    const { version, revert = true, pipelines: edits } = input
    const { plugin, previous } = selection.plan(name, input)
    const unfinished = history.findUnfinished(name)
    if (unfinished?.to === version) await completeSwitch(name, unfinished)
    const isActive = previous === plugin
    const isMoreGranted = grants.findMissing(plugin).length > 0
    if (isActive && !isMoreGranted && !edits) return get(name)

    assertNoElementCollision(store.installed(), plugin)
    const pipelines = await selection.select(plugin, client, async (configured, next) => {
      checks.assertEditsValid(configured, next, edits)
      const migrated = await migratePipelines(configured.pipelines, { plugin, previous }, signal)
      return editPipelines(migrated, edits)
    })
    if (isActive) {
      await history.endUnfinished(name)
      return get(name)
    }

    const now = new Date()
    const from = previous.version
    const entry = {
      time: now.toISOString(),
      from,
      to: version,
      client,
      pipelines: pipelines.map(({ id }) => id),
    }
    const watch: SwitchWatch = {
      from,
      to: version,
      since: now.getTime(),
      before: summarizeBefore(health, { name, version: from }),
      pipelines,
    }
    await history.add(name, entry, revert ? watch : undefined)
    return get(name)
  }

  const reviewSwitch: VersionSwitches['reviewSwitch'] = name => {
    if (!findDueRevert(name)) return
    mutex
      .runExclusive(() => revertIfDue(name))
      .catch(error =>
        log.error({ plugin: name, err: error }, 'failed to store the switches of a plugin'),
      )
  }

  /** Returns the switch that the engine must revert, and why; undefined if there is none. */
  function findDueRevert(name: string): { watch: SwitchWatch; reason: string } | undefined {
    const watch = history.findWatch(name)
    if (!watch) return undefined
    const active = findActiveVersion(store.installed(), name)?.version
    const reason = findRevertReason(health, { name, active, watch })
    return reason === undefined ? undefined : { watch, reason }
  }

  async function revertIfDue(name: string): Promise<void> {
    const due = findDueRevert(name)
    if (!due) return

    const { watch, reason } = due
    const fields = { plugin: name, from: watch.to, to: watch.from }
    try {
      const { plugin } = selection.plan(name, { version: watch.from })
      const pipelines = await selection.select(plugin, undefined, async configured =>
        restorePipelines(configured.pipelines, watch.pipelines),
      )
      await history.add(name, {
        time: new Date().toISOString(),
        from: watch.to,
        to: watch.from,
        reason,
        pipelines: pipelines.map(({ id }) => id),
      })
      log.warn({ ...fields, reason }, 'switched back to previous plugin version')
    } catch (error) {
      log.error({ ...fields, err: error }, 'failed to switch back to previous plugin version')
      await history.endWatch(name)
    }
  }

  const completeSwitches: VersionSwitches['completeSwitches'] = () =>
    mutex.runExclusive(async () => {
      for (const [name, unfinished] of history.listUnfinished()) {
        await completeSwitch(name, unfinished)
      }
    })

  /**
   * Changes the pipelines of a switch that has selected its version, but has not stored them,
   * because the engine has ended or the disk was full.
   */
  async function completeSwitch(
    name: string,
    { to, pipelines: changed }: UnfinishedSwitch,
  ): Promise<void> {
    const isSelected = findActiveVersion(store.installed(), name)?.version === to
    if (isSelected) {
      await configuration.runExclusive(async ({ pipelines }) => repeatChanges(pipelines, changed))
    }
    await history.endUnfinished(name)
  }

  const acceptShadow: VersionSwitches['acceptShadow'] = (name, { force = false }, client) =>
    mutex.runExclusive(() => {
      assertInstalled(name)
      const report = shadows.report(name)
      if (!force) {
        shadows.assertNotReplaced(name)
        assertNotWorse(name, report)
      }
      shadows.end(name)
      return switchTo(name, { version: report.version }, client)
    })

  /** Throws `EyrieError` (`id`) if the plugin is not installed. */
  const assertInstalled = (name: string) => void get(name)

  return {
    use,
    listSwitches: name => {
      assertInstalled(name)
      return history.list(name)
    },
    startShadow: (name, input, client) =>
      mutex.runExclusive(() => {
        assertInstalled(name)
        return shadows.start(name, input, client)
      }),
    getShadow: name => {
      assertInstalled(name)
      return shadows.report(name)
    },
    endShadow: name => {
      assertInstalled(name)
      return shadows.end(name)
    },
    acceptShadow,
    reviewSwitch,
    completeSwitches,
    stop: () => {
      stopping.abort()
      shadows.endAll()
    },
  }
}
