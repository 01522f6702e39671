import { setTimeout as wait } from 'node:timers/promises'
import type { Attendance } from './engine-link.ts'

/** Keeps the history of an engine's load, and looks from time to time after what nobody tells. Rejects as calls do. */
export async function keepSampling({ engine, states, session, timing, signal }: Attendance): Promise<never> {
  let wasActivated: boolean | undefined
  let checkedAt = Date.now()
  for (;;) {
    const [statistics, { activated }] = await Promise.all([engine.systemStatistics(), engine.getActivation()])
    await states.sampled(statistics, activated)
    await session.recover()
    const isLate = Date.now() - checkedAt >= timing.checkMs
    // What an engine has refused for want of a license it takes now.
    if (isLate || (activated && wasActivated === false)) {
      checkedAt = Date.now()
      await states.forgetBefore(new Date(Date.now() - timing.keepMs))
      session.wake()
    }
    wasActivated = activated
    await wait(timing.sampleMs, undefined, { signal })
  }
}
