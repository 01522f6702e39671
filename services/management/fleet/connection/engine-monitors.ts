import { setTimeout as wait } from 'node:timers/promises'
import { type Client, getEtag } from '@eyrie/client'
import type { EngineStates } from '../status/engine-states.ts'

export interface MonitorTiming {
  /** Interval between two samples of an engine's load, which also show that it is reachable. */
  sampleMs: number
  /** How long samples are retained. */
  keepMs: number
  /** Interval at which an engine's configuration is checked for changes. */
  lookMs: number
  /** Interval of reconciliations that run although nothing seems to have changed. */
  checkMs: number
}

/** The part of a session that monitors trigger. */
export interface MonitoredSession {
  wake(): void
  recover(): Promise<void>
}

export interface MonitorOptions {
  engine: Client
  states: EngineStates
  session: MonitoredSession
  timing: MonitorTiming
  signal: AbortSignal
}

/** Wakes the session whenever the engine's configuration changes, whoever changed it. Rejects when a call to the engine fails. */
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
    await states.heard()
    if (lastTag !== undefined && tag !== lastTag) session.wake()
    lastTag = tag
    await wait(timing.lookMs, undefined, { signal })
  }
}

/**
 * Records the engine's load, recovers failed channels, and wakes the session every `checkMs`. Rejects when a call to the
 * engine fails.
 */
export async function sampleLoad({
  engine,
  states,
  session,
  timing,
  signal,
}: MonitorOptions): Promise<never> {
  let wasActivated: boolean | undefined
  let lastCheck = Date.now()
  for (;;) {
    const [statistics, { activated }] = await Promise.all([engine.systemStatistics(), engine.getActivation()])
    await states.sampled(statistics, activated)
    await session.recover()
    const isCheckDue = Date.now() - lastCheck >= timing.checkMs
    // A newly activated engine accepts what it refused without a license.
    if (isCheckDue || (activated && wasActivated === false)) {
      lastCheck = Date.now()
      await states.forgetBefore(new Date(Date.now() - timing.keepMs))
      session.wake()
    }
    wasActivated = activated
    await wait(timing.sampleMs, undefined, { signal })
  }
}
