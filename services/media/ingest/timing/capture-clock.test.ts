import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createCaptureClock } from './capture-clock.ts'

const SECOND_US = 1_000_000
const WALL_US = 1_700_000_000 * SECOND_US
const ticks = (us: number) => Math.round((us * 9) / 100)
const wrapped = (time: number) => ((time % 2 ** 32) + 2 ** 32) % 2 ** 32

/** A camera whose picture of running time t was taken at `WALL_US + t - delayUs`, by a clock that is `aheadUs` ahead. */
function camera({ aheadUs = 0, delayUs = 0, rtpBegin = 0 }) {
  const clock = createCaptureClock()
  const rtpAt = (runningUs: number) => wrapped(rtpBegin + ticks(runningUs))
  return {
    clock,
    picture: (runningUs: number, framesLate = 0) =>
      clock.packet(ticks(runningUs), rtpAt(runningUs + framesLate * 40_000)),
    /** Sent when the picture of this running time has just come, and noticed so much later. */
    report: (runningUs: number, noticedAfterUs = 0) =>
      clock.report(
        // What was taken `delayUs` ago has the RTP time of the report less that delay.
        { cameraUs: WALL_US + runningUs + aheadUs, rtp: wrapped(rtpAt(runningUs) + ticks(delayUs)) },
        WALL_US + runningUs + noticedAfterUs,
      ),
  }
}

describe('when pictures were taken', () => {
  test('is told by their own camera, however wrong its clock and wherever it begins to count', () => {
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

  test('is not known before a picture and a report have come', () => {
    const { clock, picture, report } = camera({})
    picture(0)
    expect([clock.anchorUs(), clock.skewUs()]).toEqual([undefined, undefined])
    report(0)
    expect([clock.anchorUs(), clock.skewUs()]).toEqual([WALL_US, 0])
  })

  test('does not depend on packets of the next picture that are there already', () => {
    const { clock, picture, report } = camera({})
    for (let n = 0; n < 20; n++) picture(n * 40_000, n === 7 ? 0 : 1)
    report(800_000)
    expect(clock.anchorUs()).toBe(WALL_US)
  })

  test('is told by the report that was noticed soonest', () => {
    const { clock, picture, report } = camera({ aheadUs: 3600 * SECOND_US })
    picture(0)
    for (const late of [90_000, 4_000, 60_000]) {
      report(SECOND_US + late, late)
    }
    expect(clock.skewUs()).toBe(3600 * SECOND_US - 4_000)
  })
})

test('a report that may have come long before it was noticed is not believed, however often it is told', () => {
  const { clock, picture } = camera({})
  picture(0)
  const report = { cameraUs: WALL_US, rtp: 0 }
  const noticedUs = WALL_US + 1.2 * SECOND_US
  clock.report(report, noticedUs, 1.3 * SECOND_US)
  clock.report(report, noticedUs + 100_000, 100_000)
  expect([clock.skewUs(), clock.anchorUs()]).toEqual([undefined, undefined])
  clock.report(
    { cameraUs: WALL_US + 5 * SECOND_US, rtp: ticks(5 * SECOND_US) },
    WALL_US + 5 * SECOND_US,
    100_000,
  )
  expect([clock.skewUs(), clock.anchorUs()]).toEqual([0, WALL_US])
})

describe('a camera', () => {
  test('whose clock is set goes on telling when its pictures were taken', () => {
    const before = camera({ aheadUs: 0 })
    before.picture(0)
    before.report(SECOND_US)
    before.clock.report(
      { cameraUs: WALL_US + 7205 * SECOND_US, rtp: ticks(5 * SECOND_US) },
      WALL_US + 5 * SECOND_US,
    )
    expect(before.clock.skewUs()).toBe(7200 * SECOND_US)
    expect(before.clock.anchorUs()).toBe(WALL_US)
  })

  test('that begins to count anew is not believed until it has reported anew', () => {
    const { clock, picture, report } = camera({})
    picture(0)
    report(0)
    clock.packet(ticks(SECOND_US), 3_000_000_000)
    expect(clock.anchorUs()).toBeUndefined()
    clock.report({ cameraUs: WALL_US + SECOND_US, rtp: 3_000_000_000 }, WALL_US + SECOND_US)
    expect(clock.anchorUs()).toBe(WALL_US)
  })
})
