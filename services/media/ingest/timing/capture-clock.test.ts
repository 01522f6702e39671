import { TICKS_PER_SECOND } from '@eyrie/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCaptureClock } from './capture-clock.ts'

const SECOND_US = 1_000_000
const WALL_US = 1_700_000_000 * SECOND_US
const ticks = (us: number) => Math.round((us * 9) / 100)
const wrapped = (time: number) => ((time % 2 ** 32) + 2 ** 32) % 2 ** 32

const packet = (runningUs: number, timestamp: number) => ({
  timestamp,
  runningTicks: ticks(runningUs),
  clockRate: TICKS_PER_SECOND,
})

/**
 * A camera that captures the picture of running time t at `WALL_US + t - delayUs`, with a clock
 * that is `aheadUs` ahead.
 */
function camera({ aheadUs = 0, delayUs = 0, rtpBegin = 0 }) {
  const clock = createCaptureClock()
  const rtpAt = (runningUs: number) => wrapped(rtpBegin + ticks(runningUs))
  return {
    clock,
    picture: (runningUs: number) => clock.addPacket(packet(runningUs, rtpAt(runningUs))),
    /** Sends a report when the picture of this running time has arrived, which is noticed later. */
    report: (runningUs: number, noticedAfterUs = 0) =>
      clock.addReport(
        // The report's RTP time is that of a picture captured now, which arrives after the delay.
        {
          cameraUs: WALL_US + runningUs + aheadUs,
          rtp: wrapped(rtpAt(runningUs) + ticks(delayUs)),
        },
        WALL_US + runningUs + noticedAfterUs,
      ),
  }
}

describe('capture clock', () => {
  it('determines capture times for any clock skew, delay and initial timestamp', () => {
    const day = 86_400 * SECOND_US
    const cameras = fc.record({
      aheadUs: fc.integer({ min: -20_000 * day, max: 20_000 * day }),
      delayUs: fc.integer({ min: 0, max: 2 * SECOND_US }),
      rtpBegin: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    })
    fc.assert(
      fc.property(cameras, fc.integer({ min: 0, max: 30 * day }), (options, beginUs) => {
        const { clock, picture, report } = camera(options)
        for (const at of [0, 40_000, 80_000]) picture(beginUs + at)
        report(beginUs + 80_000)
        expect(clock.anchorUs()).toBeGreaterThan(WALL_US - options.delayUs - 30)
        expect(clock.anchorUs()).toBeLessThan(WALL_US - options.delayUs + 30)
        expect(clock.skewUs()).toBe(options.aheadUs)
      }),
    )
  })

  it('requires a picture and a report', () => {
    const { clock, picture, report } = camera({})
    picture(0)
    expect([clock.anchorUs(), clock.skewUs()]).toEqual([undefined, undefined])
    report(0)
    expect([clock.anchorUs(), clock.skewUs()]).toEqual([WALL_US, 0])
  })

  it('follows the newest packet when running times are adapted to the network delay', () => {
    const { clock, picture, report } = camera({})
    picture(0)
    report(0)
    clock.addPacket(packet(SECOND_US + 300_000, ticks(SECOND_US)))
    expect(clock.anchorUs()).toBe(WALL_US - 300_000)
  })

  it('uses the report with the smallest delay', () => {
    const { clock, picture, report } = camera({ aheadUs: 3600 * SECOND_US })
    picture(0)
    for (const late of [90_000, 4_000, 60_000]) {
      report(SECOND_US + late, late)
    }
    expect(clock.skewUs()).toBe(3600 * SECOND_US - 4_000)
  })
})

it('a report that may have arrived long before it was noticed is ignored', () => {
  const { clock, picture } = camera({})
  picture(0)
  const report = { cameraUs: WALL_US, rtp: 0 }
  const noticedUs = WALL_US + 1.2 * SECOND_US
  clock.addReport(report, noticedUs, 1.3 * SECOND_US)
  clock.addReport(report, noticedUs + 100_000, 100_000)
  expect([clock.skewUs(), clock.anchorUs()]).toEqual([undefined, undefined])
  clock.addReport(
    { cameraUs: WALL_US + 5 * SECOND_US, rtp: ticks(5 * SECOND_US) },
    WALL_US + 5 * SECOND_US,
    100_000,
  )
  expect([clock.skewUs(), clock.anchorUs()]).toEqual([0, WALL_US])
})

describe('capture clock of a camera', () => {
  it('remains correct when the clock of the camera is set', () => {
    const before = camera({ aheadUs: 0 })
    before.picture(0)
    before.report(SECOND_US)
    before.clock.addReport(
      { cameraUs: WALL_US + 7205 * SECOND_US, rtp: ticks(5 * SECOND_US) },
      WALL_US + 5 * SECOND_US,
    )
    expect(before.clock.skewUs()).toBe(7200 * SECOND_US)
    expect(before.clock.anchorUs()).toBe(WALL_US)
  })

  it('is unknown after the RTP timestamps restart, until the next report', () => {
    const { clock, picture, report } = camera({})
    picture(0)
    report(0)
    clock.addPacket(packet(SECOND_US, 3_000_000_000))
    expect(clock.anchorUs()).toBeUndefined()
    clock.addReport({ cameraUs: WALL_US + SECOND_US, rtp: 3_000_000_000 }, WALL_US + SECOND_US)
    expect(clock.anchorUs()).toBe(WALL_US)
  })
})
