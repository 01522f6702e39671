import { setTimeout as wait } from 'node:timers/promises'
import { type Client, getEtag } from '@eyrie/client'
import type { EngineStateStore } from '../status/engine-state-store.ts'

export interface MonitorTiming {
  /** Interval between two samples of an engine's load, which also show that it is reachable. */
  sampleMs: number
  /** How long samples are retained. */
  retentionMs: number
  /** Interval at which an engine's configuration is polled for changes. */
  configurationPollMs: number
  /** Interval of reconciliations that run without a known change. */
  reconcileMs: number
}

/** The part of a session that the monitors call. */
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

/** Reconciles whenever a client changes the engine's configuration. Rejects when a call to the engine fails. */
export async function watchConfiguration({
  engine,
  states,
  session,
  timing,
  signal,
}: MonitorOptions): Promise<never> {
  let lastTag: string | undefined
  for (;;) {
    const tag = getEtag(await engine.getConfiguration())
    await states.recordContact()
    if (lastTag !== undefined && tag !== lastTag) void session.reconcile()
    lastTag = tag
    await wait(timing.configurationPollMs, undefined, { signal })
  }
}

/** Records the engine's load, restarts failed channels, and reconciles periodically. Rejects when a call to the engine fails. */
export async function sampleLoad({
  engine,
  states,
  session,
  timing,
  signal,
}: MonitorOptions): Promise<never> {
  let wasActivated: boolean | undefined
  let lastReconcile = Date.now()
  for (;;) {
    const [statistics, { activated }] = await Promise.all([engine.systemStatistics(), engine.getActivation()])
    await states.recordSample(statistics, activated)
    await session.recoverChannels()
    const isReconcileDue = Date.now() - lastReconcile >= timing.reconcileMs
    // Once it is activated, an engine accepts what it has refused without a license.
    const isNewlyActivated = activated && wasActivated === false
    if (isReconcileDue || isNewlyActivated) {
      lastReconcile = Date.now()
      await states.deleteSamplesBefore(new Date(Date.now() - timing.retentionMs))
      void session.reconcile()
    }
    wasActivated = activated
    await wait(timing.sampleMs, undefined, { signal })
  }
}
