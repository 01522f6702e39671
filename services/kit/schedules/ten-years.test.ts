// @module-tag long

import { beforeAll, describe, expect, it } from 'vitest'
import { createArmedTimeline } from './armed-timeline.ts'
import {
  type ClockReadings,
  listChanges,
  readClock,
  simulateCron,
  simulateWindows,
} from './clock-simulation.fixture.ts'
import { allDay, cron, rule, window } from './schedule-rules.fixture.ts'
import type { Occurrence } from './window-timeline.ts'

/**
 * Zones of both hemispheres, with unusual changes: at midnight, by half an hour, by two hours,
 * by a day, in Ramadan.
 */
const zones: [zone: string, from: string, to: string][] = [
  ['Europe/Berlin', '2026-01-01', '2036-01-01'],
  ['America/New_York', '2019-01-01', '2029-01-01'],
  ['America/Sao_Paulo', '2011-01-01', '2021-01-01'],
  ['America/Havana', '2016-01-01', '2026-01-01'],
  ['Asia/Beirut', '2016-01-01', '2026-01-01'],
  ['Asia/Kathmandu', '2020-01-01', '2030-01-01'],
  ['Australia/Lord_Howe', '2024-01-01', '2034-01-01'],
  ['Pacific/Auckland', '2024-01-01', '2034-01-01'],
  ['Pacific/Apia', '2010-06-01', '2020-06-01'],
  ['Antarctica/Troll', '2016-01-01', '2026-01-01'],
  ['Africa/Casablanca', '2018-01-01', '2028-01-01'],
]

const windows = [
  window('22:00', '06:00', 'fri,sat'),
  window('00:30', '01:45', 'sun,wed'),
  window('02:10', '02:50'),
  window('23:15', '00:20'),
  allDay('mon'),
]
const crons = [
  cron('30 2 * * *', '45 2 * * *'),
  cron('*/40 0-3 * * sun', '20 */2 * * *'),
  cron('0 12 29 2 *', '0 6 1,15 * fri'),
]

describe.each(zones)('ten years of %s', (zone, from, to) => {
  let readings: ClockReadings
  beforeAll(() => {
    readings = readClock(zone, from, to)
  })
  /** Windows before the first and after the last reading are unknown to the simulation. */
  const begin = Date.parse(from) + 3 * 86_400_000
  const end = Date.parse(to) - 3 * 86_400_000

  function listProductChanges(occurrences: Occurrence[]): number[] {
    const timeline = createArmedTimeline([rule(occurrences)], zone)
    const found = []
    for (let at = timeline.stateAt(begin).nextChange; at !== undefined && at < end; ) {
      found.push(at)
      at = timeline.stateAt(at).nextChange
    }
    return found
  }

  const inPeriod = (at: number) => at > begin && at < end

  it('has the windows that a clock read every minute shows', () => {
    const simulated = listChanges(readings, simulateWindows(readings, windows)).filter(inPeriod)
    expect(simulated.length).toBeGreaterThan(10_000)
    expect(listProductChanges(windows)).toEqual(simulated)
  })

  it('has the cron events of a daemon that runs every minute', () => {
    const isArmed = createArmedTimeline([rule(crons)], zone).isArmedAt(Date.parse(from) - 60_000)
    const simulated = listChanges(readings, simulateCron(readings, crons, isArmed)).filter(inPeriod)
    expect(simulated.length).toBeGreaterThan(5_000)
    expect(listProductChanges(crons)).toEqual(simulated)
  })
})
