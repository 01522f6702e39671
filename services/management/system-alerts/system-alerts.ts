import { X509Certificate } from 'node:crypto'
import { hostname } from 'node:os'
import type { EngineOutage } from '@eyrie/contract'
import type { PlacementPlan } from '@eyrie/contract/management/placement'
import type { SystemAlertSettings } from '@eyrie/contract/management/system-alert'
import { measureDisk } from '@eyrie/kit'
import type { Database, Transaction } from '../db/database.ts'
import type { ReportedCondition } from '../db/schema/index.ts'
import { planRebalance } from '../placement/plan-placement.ts'
import { isAnyPlacementAutomatic, readPlacementState } from '../placement/read-placement-state.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { storeAlertDeliveries } from './alert-deliveries.ts'
import {
  closeAlerts,
  deleteReference,
  insertAlert,
  readOpenAlerts,
  readReferences,
  type SystemAlertRow,
  storeReferences,
  updateAlert,
} from './alert-store.ts'
import { getTitle } from './alert-texts.ts'
import { readBackupState } from './backup-state.ts'
import { observeEngines } from './engine-observations.ts'
import {
  advanceConditions,
  type Conditions,
  type TrackedCondition,
  toConditionKey,
} from './rules/advance-conditions.ts'
import { type DiskSpace, observeBackup, observeDisk, observeEnd } from './rules/machine-rules.ts'
import { APPLIANCE, type Observation, type Subject } from './rules/observation.ts'
import type { PictureReference } from './rules/picture-rules.ts'
import { observePlacement } from './rules/placement-rules.ts'
import { readSystemAlertSettings } from './system-alert-settings.ts'

/** Notices failures of cameras, engines and the appliance, and reports them to people. */
export interface SystemAlerts {
  /** Records what an engine has reported. */
  recordCondition(engineId: string, reported: ReportedCondition): void
  /**
   * Applies all rules to the present state. Called every few seconds. Concurrent
   * calls are not permitted.
   */
  evaluate(database: Database): Promise<void>
  /** Returns a line about the open alerts that no one has acknowledged, if there are any. */
  alarms(): string[]
}

export interface SystemAlertsOptions {
  secrets: Secrets
  /** Returns the engines that cannot be used. */
  listOutages(): readonly EngineOutage[]
  /** Folder of the appliance's data, whose disk is observed. */
  data: string
  /** The TLS certificate of the services, in PEM. */
  certificate: string | undefined
  /** Epoch ms. */
  now(): number
}

/** A failure that ends and comes back within `closeAfterMs` is the same alert. */
const FLAPPING = { closeAfterMs: 60_000, flapCount: 5, flapWindowMs: 600_000 }
/** The machine is examined, and what was observed last is stored, at this interval. */
const SLOW_INTERVAL_MS = 60_000

const OPERATION = 'system alerts'

export function createSystemAlerts(options: SystemAlertsOptions): SystemAlerts {
  const { secrets, listOutages, data, certificate, now } = options
  const certificateEnd = certificate
    ? new Date(new X509Certificate(certificate).validTo)
    : undefined
  /** The last report of each engine. */
  const reports = new Map<string, ReportedCondition>()
  let conditions: Conditions = new Map()
  /** Undefined until they were read, after the start. */
  let references: Map<string, PictureReference> | undefined
  /** The reports that were evaluated already: nothing is learned from a picture twice. */
  let evaluated: ReadonlySet<ReportedCondition> = new Set()
  let space: DiskSpace | undefined
  let slowSinceMs = Number.NEGATIVE_INFINITY
  /** The kinds of the open alerts that no one has acknowledged. */
  let openKinds: SystemAlertRow['kind'][] = []

  async function evaluateIn(tx: Transaction, nowMs: number, isSlowDue: boolean) {
    const settings = await readSystemAlertSettings(tx, secrets)
    const open = await readOpenAlerts(tx)
    const learned = new Map(references ?? (await readReferences(tx)))
    for (const sourceId of findRelearnedSources(open, learned)) {
      learned.delete(sourceId)
      await deleteReference(tx, sourceId)
    }

    const engines = await observeEngines(tx, {
      conditions: reports,
      evaluated,
      outages: listOutages(),
      references: learned,
      thresholds: settings.thresholds,
      hostname: hostname(),
      nowMs,
    })
    for (const [sourceId, reference] of engines.references) learned.set(sourceId, reference)

    const observations = [...engines.observations, ...(await observeAppliance(tx, settings, nowMs))]
    const advanced = advanceConditions({
      observations: observations.map(observation => ignoreDisabled(observation, settings)),
      previous: restoreConditions(conditions, open),
      unknownEngines: engines.unknownEngines,
      nowMs,
      getHoldOff: kind => ({ ...FLAPPING, openAfterMs: settings.kinds[kind].hold_s * 1000 }),
    })
    await storeChanges(tx, advanced, open, isSlowDue)
    await storeAlertDeliveries(tx, settings, nowMs)

    if (isSlowDue) await storeReferences(tx, learned)
    const unacknowledged = (await readOpenAlerts(tx)).filter(
      ({ acknowledged_at }) => acknowledged_at === null,
    )
    const openKinds = unacknowledged.map(({ kind }) => kind)
    return { conditions: advanced.conditions, learned, openKinds }
  }

  /**
   * Stores the alerts that have begun or ended, and at times also what was observed
   * about the other ones.
   */
  async function storeChanges(
    tx: Transaction,
    { conditions, changes }: ReturnType<typeof advanceConditions>,
    open: readonly SystemAlertRow[],
    isSlowDue: boolean,
  ) {
    const date = new Date(now())
    for (const { change, observation, condition } of changes) {
      if (change === 'opened') await insertAlert(tx, observation, condition, date)
    }
    const openByKey = new Map(open.map(row => [toConditionKey(row.kind, row.subject), row]))
    const closed = changes
      .filter(({ change }) => change === 'closed')
      .flatMap(
        ({ observation: { kind, subject } }) =>
          openByKey.get(toConditionKey(kind, subject.key)) ?? [],
      )
    await closeAlerts(tx, closed, date)
    if (!isSlowDue) return
    for (const [key, { reason, condition }] of conditions) {
      const row = openByKey.get(key)
      if (row) await updateAlert(tx, row, reason, condition)
    }
  }

  async function observeAppliance(
    tx: Transaction,
    { thresholds }: SystemAlertSettings,
    nowMs: number,
  ) {
    const machine = { subject: APPLIANCE, nowMs, thresholds }
    return [
      observePlacement(await planOffer(tx)),
      observeDisk(space, machine),
      observeEnd('certificate_ending', certificateEnd, machine),
      observeBackup(await readBackupState(tx, nowMs), machine),
    ]
  }

  return {
    recordCondition(engineId, reported) {
      reports.set(engineId, reported)
    },

    async evaluate(database) {
      const nowMs = now()
      const isSlowDue = nowMs - slowSinceMs >= SLOW_INTERVAL_MS
      if (isSlowDue) space = await measure(data)
      const current = new Set(reports.values())
      const result = await database.system(OPERATION, tx => evaluateIn(tx, nowMs, isSlowDue))
      // Remembered only now, because the transaction could have failed.
      evaluated = current
      conditions = result.conditions
      references = result.learned
      openKinds = result.openKinds
      if (isSlowDue) slowSinceMs = nowMs
    },

    alarms() {
      if (openKinds.length === 0) return []
      const counts = [...Map.groupBy(openKinds, getTitle)].map(
        ([title, { length }]) => `${title.toLowerCase()} (${length})`,
      )
      return [
        `system alerts are open: ${counts.join(', ')}: what to do is in the messages about them, and in the guide "System alerts"`,
      ]
    },
  }
}

/**
 * Plans a better distribution. Most installations choose the engines themselves: they need none.
 */
async function planOffer(tx: Transaction): Promise<PlacementPlan> {
  if (!(await isAnyPlacementAutomatic(tx))) return { moves: [], unplaced: [], engines: [] }
  return planRebalance(await readPlacementState(tx))
}

async function measure(folder: string): Promise<DiskSpace | undefined> {
  const space = await measureDisk(folder)
  return space && { free_bytes: space.freeBytes, total_bytes: space.totalBytes }
}

/** A failure of a disabled kind is never present. */
const ignoreDisabled = (observation: Observation, { kinds }: SystemAlertSettings): Observation =>
  kinds[observation.kind].is_enabled
    ? observation
    : { ...observation, presence: 'absent', reason: '' }

/**
 * Returns the sources whose present picture becomes the usual one, because their
 * alerts were acknowledged.
 */
const findRelearnedSources = (
  open: readonly SystemAlertRow[],
  learned: ReadonlyMap<string, PictureReference>,
) =>
  open.flatMap(({ kind, source_id: sourceId, acknowledged_at: acknowledgedAt }) => {
    const isAboutView = kind === 'picture_moved' || kind === 'picture_defocused'
    const isRelearned =
      isAboutView && acknowledgedAt !== null && sourceId !== null && learned.has(sourceId)
    return isRelearned ? [sourceId] : []
  })

/**
 * Makes the conditions agree with the stored alerts: after a start, the open alerts are conditions
 * again, and an alert that was deleted with its source is none.
 */
function restoreConditions(conditions: Conditions, open: readonly SystemAlertRow[]): Conditions {
  const openKeys = new Set(open.map(({ kind, subject }) => toConditionKey(kind, subject)))
  const existing = [...conditions].filter(
    ([key, { condition }]) => !condition.isOpen || openKeys.has(key),
  )
  const restored = new Map(existing)
  for (const row of open) {
    const key = toConditionKey(row.kind, row.subject)
    if (!restored.get(key)?.condition.isOpen) restored.set(key, toCondition(row))
  }
  return restored
}

function toCondition(row: SystemAlertRow): TrackedCondition {
  const { kind, engine_id, source_id, interruptions } = row
  const subject: Subject = { key: row.subject, name: row.subject_name, engine_id, source_id }
  const lastSeenMs = row.last_seen_at.getTime()
  return {
    kind,
    subject,
    reason: '',
    condition: {
      beganMs: row.began_at.getTime(),
      lastSeenMs,
      presentSinceMs: lastSeenMs,
      absentSinceMs: undefined,
      onsetsMs: [],
      interruptions,
      isOpen: true,
    },
  }
}
