import {
  EyrieError,
  type ModelSelection,
  type ModelShadowAcceptance,
  type ModelShadowInput,
  type ModelShadowReport,
  type ModelSwitch,
  type ModelUse,
  type Override,
} from '@eyrie/contract'
import type { Log } from '@eyrie/kit/log'
import {
  isQuarantined,
  type ModelStore,
  type Quarantine,
  type StoredModel,
} from '@eyrie/model-store'
import { Mutex } from 'async-mutex'
import type { Configuration } from '../configuration/configuration.ts'
import type { InferencePool } from '../inference/inference.ts'
import type { KnownElements } from '../plugin-host/known-elements.ts'
import { findRevertReason, summarizeBefore } from '../upgrade/revert-rule.ts'
import type { ActiveModels } from './active-models.ts'
import type { DetectorMonitor } from './detector-monitor.ts'
import { listModelAlarms } from './model-alarms.ts'
import { assertNotWorse, createModelShadowRuns } from './model-shadow-runs.ts'
import type { ModelSwitchHistory, ModelWatch } from './model-switch-history.ts'
import { findModelUsers } from './model-users.ts'

/**
 * The models that run for pipelines. Another model can be selected in place of the one that
 * pipelines name: by a person, after a run in shadow, or back by the engine.
 */
export interface Models {
  list(): ModelUse[]
  /** Throws `EyrieError` (`id`) if there is no model of this name. */
  get(name: string): ModelUse
  /**
   * Selects the model that runs in place of another one. Throws `EyrieError`: `conflict` if it
   * cannot be loaded, `capacity` if it needs more than the machine has.
   */
  use(name: string, selection: ModelSelection, request: SwitchRequest): Promise<ModelUse>
  /** Lists the switches of a model, oldest first. */
  listSwitches(name: string): ModelSwitch[]
  /** Runs another model on the frames of the active one, without any effect, for a limited time. */
  startShadow(name: string, input: ModelShadowInput): Promise<ModelShadowReport>
  getShadow(name: string): ModelShadowReport
  endShadow(name: string): ModelShadowReport
  /**
   * Ends the run in shadow, and selects its model. Throws `EyrieError` (`conflict`) if
   * the model did worse.
   */
  acceptShadow(
    name: string,
    acceptance: ModelShadowAcceptance,
    request: SwitchRequest,
  ): Promise<ModelUse>
  /** The models about which a person must decide. */
  alarms(): string[]
  stop(): void
}

export interface SwitchRequest {
  /** IP address of the client. */
  client: string
  override?: Override | undefined
}

export interface ModelsDependencies {
  store: Pick<ModelStore, 'list' | 'get'>
  active: ActiveModels
  history: ModelSwitchHistory
  monitor: DetectorMonitor
  quarantine: Pick<Quarantine, 'findCrashes'>
  inference: Pick<InferencePool, 'workers' | 'preload'>
  /** Starts a worker at the lowest priority, whose crashes do not count for the quarantine. */
  startShadowPool(): Promise<InferencePool>
  /** Throws `EyrieError` (`capacity`) if the machine has not enough for these models. */
  checkCapacity(findSelected: (name: string) => string): void
  elements: Pick<KnownElements, 'get'>
  configuration: Pick<Configuration, 'get' | 'channels'>
  runtime: { retryChannel(channel: number): void }
  log: Log
}

export function createModels({
  store,
  active,
  history,
  monitor,
  quarantine,
  inference,
  startShadowPool,
  checkCapacity,
  elements,
  configuration,
  runtime,
  log,
}: ModelsDependencies): Models {
  const mutex = new Mutex()
  const shadows = createModelShadowRuns({
    getRunnable,
    active,
    monitor,
    inference,
    startShadowPool,
    log,
  })

  function getModel(name: string): StoredModel {
    const model = store.get(name)
    if (model) return model
    throw new EyrieError(
      'id',
      `there is no model ${name}: GET /models lists the available ones, "eyrie model add" adds one`,
    )
  }

  /** Returns a model that may run. Throws `EyrieError` (`conflict`) if it is in quarantine. */
  function getRunnable(name: string): StoredModel {
    const model = getModel(name)
    const crash = quarantine.findCrashes(model.card.sha256)
    if (crash && isQuarantined(crash)) {
      throw new EyrieError(
        'conflict',
        `model ${name} is in quarantine: it crashed its worker ${crash.crashes} times (${crash.last}). Add it again to release it`,
      )
    }
    return model
  }

  const findActive = (name: string) => active.get(name)?.card.name ?? name

  function describe(name: string): ModelUse {
    const pipelines = findModelUsers(name, configuration.get().value.pipelines, elements)
    return { name, active: findActive(name), ...(pipelines.length > 0 && { pipelines }) }
  }

  const get: Models['get'] = name => describe(getModel(name).card.name)

  /**
   * Loads a model next to the active one, and continues with it at the next frame of each detector.
   */
  async function select(name: string, entry: ModelSwitch, watch?: ModelWatch): Promise<void> {
    const release = await inference.preload(getRunnable(entry.to), name).catch(error => {
      throw toRefusal(entry.to, error)
    })
    // Its report compares with the model that ran so far.
    shadows.endIfRunning(name)
    try {
      // In effect even if the disk cannot store it.
      await history.add(name, entry, watch).finally(() => active.notifyChange())
    } finally {
      await release()
    }
    // Elements that have failed wait for their next attempt.
    for (const { id } of configuration.channels()) runtime.retryChannel(id)
  }

  /** Loads a model in a worker of its own. Throws `EyrieError` (`conflict`) if it cannot run. */
  async function assertRuns({ card: { name } }: StoredModel): Promise<void> {
    const pool = await startShadowPool()
    try {
      const client = {
        channel: 0,
        pacing: 'realtime',
        priority: () => 0,
        findRing: () => undefined,
      } as const
      const detector = await pool.forChannel(client).open({ model: name, hw: 'auto', mode: 'a' })
      detector.close()
    } catch (error) {
      throw toRefusal(name, error as Error)
    } finally {
      await pool.stop()
    }
  }

  async function switchTo(
    name: string,
    { active: to, revert = true }: ModelSelection,
    { client, override }: SwitchRequest,
  ): Promise<ModelUse> {
    const from = get(name).active
    const model = getRunnable(to)
    if (from === to && history.findSelected(name) === to) return get(name)

    if (override !== 'capacity') {
      checkCapacity(other => (other === name ? to : history.findSelected(other)))
    }
    await assertRuns(model)
    const now = new Date()
    const before = summarizeBefore(monitor.health, { name, version: from })
    const entry = { time: now.toISOString(), from, to, client }
    const isWatched = revert && from !== to
    await select(name, entry, isWatched ? { from, to, since: now.getTime(), before } : undefined)
    log.info({ model: name, from, to, client }, 'switched model')
    return get(name)
  }

  const use: Models['use'] = (name, selection, request) =>
    mutex.runExclusive(() => switchTo(name, selection, request))

  /** Returns the switch that the engine must revert, and why; undefined if there is none. */
  function findDueRevert(name: string): { watch: ModelWatch; reason: string } | undefined {
    const watch = history.findWatch(name)
    if (!watch) return undefined
    const reason = findRevertReason(monitor.health, { name, active: findActive(name), watch })
    return reason === undefined ? undefined : { watch, reason }
  }

  async function revertIfDue(name: string): Promise<void> {
    const due = findDueRevert(name)
    if (!due) return

    const { watch, reason } = due
    const reverted = { from: watch.to, to: watch.from }
    try {
      await select(name, { time: new Date().toISOString(), ...reverted, reason })
      log.warn({ model: name, ...reverted, reason }, 'switched back to previous model')
    } catch (error) {
      log.error({ model: name, ...reverted, err: error }, 'failed to switch back to previous model')
      await history.endWatch(name)
    }
  }

  monitor.onFailure = name => {
    if (!findDueRevert(name)) return
    mutex
      .runExclusive(() => revertIfDue(name))
      .catch(error =>
        log.error({ model: name, err: error }, 'failed to store the switches of a model'),
      )
  }

  const startShadow: Models['startShadow'] = (name, input) =>
    mutex.runExclusive(() => shadows.start({ name, active: get(name).active }, input))

  const getShadow: Models['getShadow'] = name => {
    get(name)
    return shadows.report(name)
  }

  const acceptShadow: Models['acceptShadow'] = (name, { force = false }, request) =>
    mutex.runExclusive(() => {
      const report = getShadow(name)
      if (!force) assertNotWorse(report)
      return switchTo(name, { active: report.candidate }, request)
    })

  return {
    list: () => store.list().map(({ card }) => describe(card.name)),
    get,
    use,
    listSwitches: name => {
      get(name)
      return history.list(name)
    },
    startShadow,
    getShadow,
    endShadow: name => {
      get(name)
      return shadows.end(name)
    },
    acceptShadow,
    alarms: () => listModelAlarms(history, store),
    stop: () => shadows.endAll(),
  }
}

const toRefusal = (model: string, error: Error) =>
  new EyrieError('conflict', `model ${model} cannot be used: ${error.message}`)
