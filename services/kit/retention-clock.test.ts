import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { createRetentionClock } from './retention-clock.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const today = Date.parse('2026-03-04T12:00:00Z')
const wrong = Date.parse('2038-01-19T03:14:07Z')

/** A machine with a wall clock and a monotonic one, on which the service can be restarted. */
function createMachine(newestMs?: number) {
  const file = join(createTemporaryFolder(), 'store', 'retention-clock.json')
  const warnings: Record<string, string>[] = []
  const log = pino(
    { base: null, timestamp: false },
    { write: line => warnings.push(JSON.parse(line)) },
  )
  let [wallMs, monotonicMs] = [today, 0]
  const start = () =>
    createRetentionClock({
      file,
      wall: () => wallMs,
      monotonic: () => monotonicMs,
      log,
    })
  let clock = start()
  const read = async () => (await clock.read(async () => newestMs)).nowMs
  return {
    file,
    warnings,
    read,
    /** Lets both clocks run, while the clock is read every hour. Returns the last time read. */
    async run(durationMs: number) {
      for (let ms = 0; ms < durationMs; ms += HOUR_MS) {
        wallMs += HOUR_MS
        monotonicMs += HOUR_MS
        await read()
      }
      return read()
    },
    setClock(ms: number) {
      wallMs = ms
    },
    restart(offMs = 0) {
      wallMs += offMs
      monotonicMs = 0
      clock = start()
    },
  }
}

describe('the clock of retention', () => {
  it('is the wall clock while that runs steadily, is corrected, or the machine was off for a night', async () => {
    const machine = createMachine()
    expect(await machine.run(2 * DAY_MS)).toBe(today + 2 * DAY_MS)
    machine.setClock(today + DAY_MS)
    expect(await machine.read()).toBe(today + DAY_MS)
    machine.restart(DAY_MS / 2)
    expect(await machine.read()).toBe(today + 1.5 * DAY_MS)
    expect(machine.warnings).toEqual([])
  })

  it('trusts a leap ahead after a day, and warns once until then', async () => {
    const machine = createMachine()
    await machine.read()
    machine.setClock(wrong)
    expect(await machine.read()).toBe(today)
    expect(await machine.run(DAY_MS - HOUR_MS)).toBe(today + DAY_MS - HOUR_MS)
    expect(machine.warnings).toEqual([
      {
        level: 40,
        clock: '2038-01-19T03:14:07.000Z',
        expected: '2026-03-04T12:00:00.000Z',
        postponed_until: '2038-01-20T03:14:07.000Z',
        msg: expect.stringContaining('the clock is more than a day ahead, set it if it is wrong'),
      },
    ])
    expect(await machine.run(HOUR_MS)).toBe(wrong + DAY_MS)
    expect(machine.warnings).toHaveLength(1)
  })

  it('does not trust a wrong clock sooner because the service is restarted', async () => {
    const machine = createMachine()
    await machine.read()
    machine.restart(wrong - today)
    expect(await machine.read()).toBe(today)
    for (let hours = 0; hours < 23; hours += 1) {
      await machine.run(HOUR_MS)
      machine.restart()
    }
    expect(await machine.read()).toBe(today + 23 * HOUR_MS)
    expect(await machine.run(HOUR_MS)).toBe(wrong + DAY_MS)
  })

  it('counts a day of running with a machine that is off at night after a month', async () => {
    const machine = createMachine()
    await machine.read()
    machine.restart(30 * DAY_MS)
    expect(await machine.read()).toBe(today)
    expect(await machine.run(12 * HOUR_MS)).toBe(today + 12 * HOUR_MS)
    machine.restart(12 * HOUR_MS)
    expect(await machine.run(12 * HOUR_MS)).toBe(today + 31.5 * DAY_MS)
  })

  it('trusts the time of the first leap when the clock leaps again, and the other a day later', async () => {
    const machine = createMachine()
    const first = today + 30 * DAY_MS
    await machine.read()
    machine.setClock(first)
    await machine.read()
    await machine.run(23 * HOUR_MS)
    machine.setClock(wrong)
    expect(await machine.read()).toBe(today + 23 * HOUR_MS)
    expect(await machine.run(HOUR_MS)).toBe(first + DAY_MS)
    expect(await machine.run(23 * HOUR_MS)).toBe(first + DAY_MS + 23 * HOUR_MS)
    expect(await machine.run(HOUR_MS)).toBe(wrong + DAY_MS + HOUR_MS)
    expect(machine.warnings.at(-1)).toMatchObject({
      clock: new Date(wrong + HOUR_MS).toISOString(),
      expected: new Date(first + DAY_MS).toISOString(),
    })
  })

  it('starts the day over when the clock leaps back, and ends it when the clock is corrected', async () => {
    const machine = createMachine()
    await machine.read()
    machine.setClock(wrong)
    await machine.run(23 * HOUR_MS)
    machine.setClock(wrong - 365 * DAY_MS)
    expect(await machine.run(23 * HOUR_MS)).toBe(today + 46 * HOUR_MS)
    machine.setClock(today + 46 * HOUR_MS)
    expect(await machine.run(HOUR_MS)).toBe(today + 47 * HOUR_MS)
    expect(machine.warnings).toHaveLength(2)
  })

  it('counts a day of running over weeks in which the machine is mostly off', async () => {
    const machine = createMachine()
    await machine.read()
    for (let week = 1; week <= 10; week++) {
      machine.restart(7 * DAY_MS - 8 * HOUR_MS)
      await machine.run(8 * HOUR_MS)
    }
    // In the fourth week, the time of the first one is trusted; in the eighth, that of the fifth.
    const trustedMs = await machine.read()
    expect(trustedMs).toBeGreaterThan(today + 5 * 7 * DAY_MS)
    expect(trustedMs).toBeLessThan(today + 70 * DAY_MS)
  })

  it('is never later than a wall clock that was set back, and trusts it after a day', async () => {
    const machine = createMachine()
    await machine.read()
    machine.setClock(0)
    expect(await machine.run(2 * DAY_MS)).toBe(2 * DAY_MS)
    machine.setClock(today)
    expect(await machine.read()).toBe(2 * DAY_MS)
  })

  it('compares a clock without history with the newest time in the store', async () => {
    const machine = createMachine(today)
    machine.setClock(wrong)
    expect(await machine.read()).toBe(today)
  })

  it('works without a readable history', async () => {
    const machine = createMachine()
    await machine.read()
    writeFileSync(machine.file, '{')
    machine.restart(HOUR_MS)
    expect(await machine.read()).toBe(today + HOUR_MS)
    expect(machine.warnings).toMatchObject([{ msg: 'failed to read history of clock' }])
  })
})
