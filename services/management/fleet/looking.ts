import { setTimeout as wait } from 'node:timers/promises'
import { getEtag } from '@eyrie/client'
import type { Attendance } from './link.ts'

/** Looks after an engine when its configuration is another than before, whoever has changed it. Rejects as calls do. */
export async function keepLooking({ engine, states, session, timing, signal }: Attendance): Promise<never> {
  let known: string | undefined
  for (;;) {
    const tag = getEtag(await engine.getConfiguration())
    await states.heard()
    if (known !== undefined && tag !== known) session.wake()
    known = tag
    await wait(timing.lookMs, undefined, { signal })
  }
}
