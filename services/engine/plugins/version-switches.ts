import {
  EyrieError,
  type Pipeline,
  type Plugin,
  type PluginSwitch,
  type ShadowAcceptance,
  type ShadowInput,
  type ShadowReport,
  type VersionSwitch,
} from '@eyrie/contract'
import type { Log } from '@eyrie/kit/log'
import type { Mutex } from 'async-mutex'
import type { Configuration, ConfiguredPipelines } from '../configuration/configuration.ts'
import { assertIfMatch, type WithEtag } from '../configuration/etag.ts'
import type { KnownPlugin } from '../plugin-host/known-plugin.ts'
import type { StartShadow } from '../plugin-host/running-shadow.ts'
import { findRevertReason, summarizeBefore } from '../upgrade/revert-rule.ts'
import type { VersionHealth } from '../upgrade/version-health.ts'
import type { PluginGrants } from './grants/plugin-grants.ts'
import { findActiveVersion, type InstalledPlugins } from './installed-plugins.ts'
import type { PipelineChecks } from './pipeline-checks.ts'
import { assertCanRunInShadow, assertNoElementCollision, getVersion } from './plugin-checks.ts'
import type { PluginStore } from './plugin-store.ts'
import {
  editPipelines,
  listChangedPipelines,
  migratePipelines,
  repeatChanges,
  restorePipelines,
} from './switch-plan.ts'
import { assertMayRun } from './trust/package-acceptance.ts'
import { readClaim } from './trust/package-claim.ts'
import type { PluginTrust } from './trust/plugin-trust.ts'
import type { ChangedPipeline, SwitchHistory, SwitchWatch } from './upgrade/switch-history.ts'
import { createVersionShadows, toShadowRun } from './upgrade/version-shadow.ts'

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
   * the version did worse.
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
  startShadow: runInShadow,
  history,
  health,
  checks,
  mutex,
  get,
  log,
}: VersionSwitchesDependencies): VersionSwitches {
  const stopping = new AbortController()
  const shadows = createVersionShadows()

  /**
   * Returns a version that may become active. Throws `EyrieError` if it may not run, or asks for
   * more than was granted.
   */
  function getRunnable(
    name: string,
    { version, grant }: Pick<PluginSwitch, 'version' | 'grant'>,
  ): KnownPlugin {
    const plugin = getVersion(store.installed(), name, version)
    if (plugin.origin === 'uploaded') {
      assertMayRun({ name, version, claim: readClaim(plugin) }, trust.policy())
    }
    if (!grant) grants.assertGranted(plugin)
    return plugin
  }

  /** The installed plugins once a version is active. */
  function planSelection({ name, version }: KnownPlugin): InstalledPlugins {
    const installed = store.installed()
    return { ...installed, selected: { ...installed.selected, [name]: version } }
  }

  /**
   * Makes a version active, with the pipelines that `change` returns. Returns the
   * pipelines that have changed.
   */
  async function select(
    plugin: KnownPlugin,
    client: string | undefined,
    change: (configured: ConfiguredPipelines, next: InstalledPlugins) => Promise<Pipeline[]>,
  ): Promise<ChangedPipeline[]> {
    const { name, version } = plugin
    const next = planSelection(plugin)
    let changed: ChangedPipeline[] = []
    await configuration.runExclusive(async configured => {
      const pipelines = await change(configured, next)
      checks.assertRemainValid(configured, next, version, pipelines)
      if (grants.findMissing(plugin).length > 0) await grants.grant(plugin, client)
      changed = listChangedPipelines(configured.pipelines, pipelines)
      if (changed.length > 0) await history.begin(name, { to: version, pipelines: changed })
      await store.select(name, version)
      return changed.length > 0 ? pipelines : undefined
    })
    return changed
  }

  async function switchTo(
    name: string,
    input: PluginSwitch,
    client: string,
  ): Promise<WithEtag<Plugin>> {
    const { version, revert = true, pipelines: edits } = input
    const plugin = getRunnable(name, input)
    const previous = findActiveVersion(store.installed(), name)!
    const isMoreGranted = grants.findMissing(plugin).length > 0
    if (previous === plugin && !isMoreGranted && !edits) return get(name)

    assertNoElementCollision(store.installed(), plugin)
    const pipelines = await select(plugin, client, async (configured, next) => {
      checks.assertEditsValid(configured, next, edits)
      const migrated = await migratePipelines(
        configured.pipelines,
        { plugin, previous },
        stopping.signal,
      )
      return editPipelines(migrated, edits)
    })
    if (previous === plugin) {
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
      before: summarizeBefore(health, name, from),
      pipelines,
    }
    await history.add(name, entry, revert ? watch : undefined)
    return get(name)
  }

  const use: VersionSwitches['use'] = (name, input, client, ifMatch) =>
    mutex.runExclusive(() => {
      assertIfMatch(ifMatch, get(name).etag)
      return switchTo(name, input, client)
    })

  /** Returns why the engine must switch back from the active version; undefined if it need not. */
  function findReason(name: string): string | undefined {
    const watch = history.findWatch(name)
    const active = watch && findActiveVersion(store.installed(), name)?.version
    return findRevertReason(name, active, watch, health)
  }

  const reviewSwitch: VersionSwitches['reviewSwitch'] = name => {
    if (findReason(name) === undefined) return
    void mutex
      .runExclusive(async () => {
        const watch = history.findWatch(name)
        const reason = findReason(name)
        if (!watch || reason === undefined) return
        const { from, to } = watch
        try {
          const plugin = getRunnable(name, { version: from })
          const pipelines = await select(plugin, undefined, async configured =>
            restorePipelines(configured.pipelines, watch.pipelines),
          )
          const time = new Date().toISOString()
          const ids = pipelines.map(({ id }) => id)
          await history.add(name, { time, from: to, to: from, reason, pipelines: ids })
          log.warn(
            { plugin: name, from: to, to: from, reason },
            'switched back to previous plugin version',
          )
        } catch (error) {
          log.error(
            { plugin: name, from: to, to: from, err: error },
            'failed to switch back to previous plugin version',
          )
          await history.endWatch(name)
        }
      })
      .catch(error =>
        log.error({ plugin: name, err: error }, 'failed to store the switches of a plugin'),
      )
  }

  const completeSwitches: VersionSwitches['completeSwitches'] = () =>
    mutex.runExclusive(async () => {
      for (const [name, { to, pipelines: changed }] of history.listUnfinished()) {
        const isSelected = findActiveVersion(store.installed(), name)?.version === to
        if (isSelected) {
          await configuration.runExclusive(async ({ pipelines }) =>
            repeatChanges(pipelines, changed),
          )
        }
        await history.endUnfinished(name)
      }
    })

  const listSwitches: VersionSwitches['listSwitches'] = name => {
    get(name)
    return history.list(name)
  }

  const startShadow: VersionSwitches['startShadow'] = (name, input, client) =>
    mutex.runExclusive(async () => {
      get(name)
      shadows.assertNotRunning(name)
      const plugin = getRunnable(name, input)
      const previous = findActiveVersion(store.installed(), name)!
      assertCanRunInShadow(plugin, previous)
      const { pipelines, sources } = configuration.get().value
      const migrated = await migratePipelines(pipelines, { plugin, previous }, stopping.signal)
      checks.assertRemainValid(
        { pipelines, sources },
        planSelection(plugin),
        plugin.version,
        migrated,
      )
      if (grants.findMissing(plugin).length > 0) await grants.grant(plugin, client)
      const running = runInShadow(plugin, migrated)
      const { version } = plugin
      const { seconds } = input
      return shadows.start(
        name,
        toShadowRun({ plugin: name, active: previous.version, version, seconds, running }),
      )
    })

  const getShadow: VersionSwitches['getShadow'] = name => {
    get(name)
    return shadows.report(name)
  }

  const endShadow: VersionSwitches['endShadow'] = name => {
    get(name)
    return shadows.end(name)
  }

  const acceptShadow: VersionSwitches['acceptShadow'] = (name, { force = false }, client) =>
    mutex.runExclusive(async () => {
      const { version, verdict, findings } = getShadow(name)
      if (!force && (verdict === 'worse' || verdict === 'unknown')) {
        throw new EyrieError(
          'conflict',
          verdict === 'unknown'
            ? `version ${version} of ${name} has processed no frame in shadow${findings.length > 0 ? ` (${findings.join('; ')})` : ''}: run it on a channel that has frames, or accept it with force`
            : `version ${version} of ${name} did worse in shadow: ${findings.join('; ')}. To accept it nevertheless, use force`,
        )
      }
      shadows.end(name)
      return switchTo(name, { version }, client)
    })

  return {
    use,
    listSwitches,
    startShadow,
    getShadow,
    endShadow,
    acceptShadow,
    reviewSwitch,
    completeSwitches,
    stop: () => {
      stopping.abort()
      shadows.endAll()
    },
  }
}
