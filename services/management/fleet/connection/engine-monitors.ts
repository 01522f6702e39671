import { setTimeout as wait } from 'node:timers/promises'
import { type Client, getEtag } from '@eyrie/client'
import { EyrieError } from '@eyrie/contract'
import type { ReportedCondition } from '../../db/schema/index.ts'
import type { EngineStateStore } from '../status/engine-state-store.ts'

// Background tasks that poll a connected engine. Two of them reconcile it when that is needed: a
// reconciliation applies the stored configuration to the engine.

/** Intervals of the tasks, and the retention of what they store. */
export interface MonitorTiming {
  /**
   * Interval between two samples of the engine's load. A failed sample also reveals
   * an unreachable engine.
   */
  sampleMs: number
  /** How long samples are retained. */
  retentionMs: number
  /** Interval at which the engine's configuration is polled for changes. */
  configurationPollMs: number
  /** Interval of reconciliations that run without a known change. */
  reconcileMs: number
}

/** Receives what an engine reports about its machine and its sources. */
export type ConditionListener = (engineId: string, reported: ReportedCondition) => void

/** The operations of an engine session that the monitors call. */
export interface MonitoredSession {
  reconcile(): Promise<void>
  recoverChannels(): Promise<void>
}

export interface MonitorOptions {
  engine: Client
  states: EngineStateStore
  session: MonitoredSession
  timing: MonitorTiming
  signal: AbortSignal
}

/**
 * Reconciles whenever a client changes the engine's configuration. Rejects when a call
 * to the engine fails.
 */
export async function watchConfiguration({
  engine,
  states,
  session,
  timing,
  signal,
}: MonitorOptions): Promise<never> {
  let lastEtag: string | undefined
  for (;;) {
    const etag = getEtag(await engine.getConfiguration())
    await states.recordContact()

    if (lastEtag !== undefined && etag !== lastEtag) void session.reconcile()
    lastEtag = etag

    await wait(timing.configurationPollMs, undefined, { signal })
  }
}

/**
 * Periodically records the load, restarts failed channels, and reconciles. Rejects when a call
 * to the engine fails.
 */
export async function maintainEngine({
  engine,
  states,
  session,
  timing,
  signal,
}: MonitorOptions): Promise<never> {
  let wasActivated: boolean | undefined
  let lastReconcileMs = performance.now()
  for (;;) {
    const [statistics, { activated }] = await Promise.all([
      engine.systemStatistics(),
      engine.getActivation(),
    ])
    await states.recordSample(statistics, activated)
    await session.recoverChannels()

    const isReconcileDue = performance.now() - lastReconcileMs >= timing.reconcileMs
    // Activation makes the engine accept objects that it has rejected without a license.
    const isNewlyActivated = activated && wasActivated === false
    if (isReconcileDue || isNewlyActivated) {
      lastReconcileMs = performance.now()
      await states.deleteSamplesBefore(new Date(Date.now() - timing.retentionMs))
      void session.reconcile()
    }
    wasActivated = activated

    await wait(timing.sampleMs, undefined, { signal })
  }
}

/** Reads the condition of the engine periodically. Rejects when a call to the engine fails. */
export async function watchCondition(
  { engine, timing, signal }: MonitorOptions,
  onCondition: (reported: ReportedCondition) => Promise<void>,
): Promise<never> {
  for (;;) {
    const requestedMs = Date.now()
    try {
      const condition = await engine.engineCondition()
      await onCondition({ condition, requestedMs, receivedMs: Date.now() })
    } catch (error) {
      // Engines of earlier releases do not report their condition.
      if (!(error instanceof EyrieError && error.code === 'id')) throw error
    }
    await wait(timing.sampleMs, undefined, { signal })
  }
}
