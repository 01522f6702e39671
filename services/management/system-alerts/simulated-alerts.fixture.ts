import type { EngineCondition, SourceCondition } from '@eyrie/contract'
import { eq } from 'drizzle-orm'
import { beforeEach } from 'vitest'
import type { TestManagement } from '../../../test/fixtures/management/management.ts'
import type { ManagementRecords } from '../../../test/fixtures/management/records.ts'
import { delivery, job, setting, source, systemAlert } from '../db/schema/index.ts'
import { createSystemAlerts, type SystemAlerts, type SystemAlertsOptions } from './system-alerts.ts'

/** The simulated time at which each test begins. */
export const BEGIN_MS = Date.parse('2026-03-04T12:00:00Z')
/** Interval between two reports of the engine. */
const REPORT_INTERVAL_MS = 5_000
/** The id of the source on the engine. */
const SOURCE_SID = 7

type ReportedSource = Omit<SourceCondition, 'id'>

export const running: ReportedSource = { type: 'video', state: 'running' }
export const unreachable: ReportedSource = {
  type: 'video',
  state: 'reconnecting',
  reason: 'no route to 10.0.0.9',
}

/** System alerts about a simulated engine with one source, in a time that tests set. */
export interface SimulatedAlerts {
  nowMs: number
  /** Creates the system alerts anew, as after a start of management. */
  restart(options?: Partial<SystemAlertsOptions>): void
  /**
   * Lets the engine report a state of its source for some seconds. Undefined: it reports nothing.
   * `fields` are further fields of its reports. `areEventsLost` is as in `ReportedCondition`.
   */
  report(
    state: ReportedSource | undefined,
    seconds: number,
    fields?: Partial<EngineCondition>,
    areEventsLost?: boolean,
  ): Promise<void>
  alarms(): string[]
}

/** Simulates system alerts. Before each test, stored alerts are deleted, and the time is reset. */
export function simulateAlerts(
  management: TestManagement,
  records: ManagementRecords,
): SimulatedAlerts {
  let alerts: SystemAlerts

  beforeEach(async () => {
    simulated.nowMs = BEGIN_MS
    simulated.restart()
    await management.database.system('test', async tx => {
      await tx.delete(delivery)
      await tx.delete(systemAlert)
      await tx.delete(setting)
      await tx.delete(job)
      await tx
        .update(source)
        .set({ source_sid: SOURCE_SID })
        .where(eq(source.source_id, records.source_id))
    })
  })

  const simulated: SimulatedAlerts = {
    nowMs: BEGIN_MS,

    restart(options = {}) {
      alerts = createSystemAlerts({
        secrets: management.scheduler.secrets,
        listOutages: () => [],
        data: management.data,
        certificate: undefined,
        now: () => simulated.nowMs,
        ...options,
      })
    },

    async report(state, seconds, fields = {}, areEventsLost = undefined) {
      const endMs = simulated.nowMs + seconds * 1000
      while (simulated.nowMs < endMs) {
        const { nowMs } = simulated
        if (state) {
          const condition = {
            time: new Date(nowMs).toISOString(),
            sources: [{ id: SOURCE_SID, ...state }],
            ...fields,
          }
          const reported = { condition, requestedMs: nowMs, receivedMs: nowMs, areEventsLost }
          alerts.recordCondition(records.engine_id, reported)
        }
        await alerts.evaluate(management.database)
        simulated.nowMs += REPORT_INTERVAL_MS
      }
    },

    alarms: () => alerts.alarms(),
  }
  return simulated
}
