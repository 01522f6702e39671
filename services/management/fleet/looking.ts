import { setTimeout as wait } from 'node:timers/promises'
import { type Client, etagOf } from '@eyrie/client'
import type { Timing } from './link.ts'
import type { Session } from './session.ts'
import type { EngineStates } from './state.ts'

export interface Looking {
  engine: Client
  states: EngineStates
  session: Session
  timing: Timing
  signal: AbortSignal
}

/** Looks after an engine when its configuration is another than before, whoever has changed it. Rejects as calls do. */
export async function keepLooking({ engine, states, session, timing, signal }: Looking): Promise<never> {
  let known: string | undefined
  for (;;) {
    const tag = etagOf(await engine.getConfiguration())
    await states.heard()
    if (known !== undefined && tag !== known) session.wake()
    known = tag
    await wait(timing.lookMs, undefined, { signal })
  }
}
