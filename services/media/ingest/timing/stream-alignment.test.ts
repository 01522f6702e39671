import { describe, expect, it } from 'vitest'
import { createPictureDistance } from './picture-distance.ts'
import { calculateRealignment, type SessionTiming } from './stream-alignment.ts'

/** 25 frames per second. */
const PICTURE_TICKS = 3600
const main: SessionTiming = {
  ptsOffset: 90_000,
  arrivalUs: 5e6,
  cameraUs: 1e15,
  pictureTicks: PICTURE_TICKS,
}
/** The sub stream began 2 s after the main stream: at the stream time of 3 s. */
const ALIGNED = 3 * 90_000
const sub: SessionTiming = { ...main, ptsOffset: ALIGNED, arrivalUs: 7e6, cameraUs: 1e15 + 2e6 }

describe('alignment of a sub stream', () => {
  it('is correct if both sessions refer to the same moment by the same stream time', () => {
    expect(calculateRealignment(main, sub)).toBeUndefined()
  })

  it("follows the camera's clock rather than the arrival", () => {
    const delayed = { ...sub, arrivalUs: sub.arrivalUs + 200_000 }
    expect(calculateRealignment(main, delayed)).toBeUndefined()
    expect(calculateRealignment(main, { ...delayed, ptsOffset: ALIGNED - 900 })).toBe(ALIGNED)
  })

  it('follows the arrival if a stream has no reports, within the variation of the network', () => {
    const withoutReports = { ...sub, cameraUs: undefined }
    expect(
      calculateRealignment(main, { ...withoutReports, ptsOffset: ALIGNED - 2000 }),
    ).toBeUndefined()
    expect(calculateRealignment(main, { ...withoutReports, ptsOffset: ALIGNED - 9000 })).toBe(
      ALIGNED,
    )
    const mainWithoutReports = { ...main, cameraUs: undefined }
    expect(calculateRealignment(mainWithoutReports, { ...sub, ptsOffset: ALIGNED - 9000 })).toBe(
      ALIGNED,
    )
  })

  it('follows the arrival if the reports of the two streams refer to different clocks', () => {
    const otherClock = { ...sub, cameraUs: 12_345, ptsOffset: ALIGNED - 9000 }
    expect(calculateRealignment(main, otherClock)).toBe(ALIGNED)
  })

  it('moves forward at once, and back by at most half a picture', () => {
    expect(calculateRealignment(main, { ...sub, ptsOffset: ALIGNED - 80_000 })).toBe(ALIGNED)
    let ptsOffset = ALIGNED + 9000
    const steps: number[] = []
    for (let next: number | undefined = ptsOffset; next !== undefined; ) {
      next = calculateRealignment(main, { ...sub, ptsOffset })
      if (next !== undefined) steps.push(next - ptsOffset)
      ptsOffset = next ?? ptsOffset
    }
    expect(steps).toEqual([-1800, -1800, -1800, -1800, -1800])
    expect(ptsOffset).toBe(ALIGNED)
  })
})

describe('distance between pictures', () => {
  const measure = (times: number[]) => {
    const distance = createPictureDistance()
    for (const time of times) distance.addPicture(time * PICTURE_TICKS)
    return distance.ticks()
  }

  it('is unknown before the second picture', () => {
    expect(measure([])).toBeUndefined()
    expect(measure([1])).toBeUndefined()
    expect(measure([1, 2])).toBe(PICTURE_TICKS)
  })

  it('is that of consecutive pictures, even in the decoding order of B-frames', () => {
    const groups = Array.from({ length: 8 }, (_, i) => 3 * i)
    expect(measure(groups.flatMap(i => [i + 3, i + 1, i + 2]))).toBe(PICTURE_TICKS)
  })

  it('ignores a few distances that are too short', () => {
    const times = Array.from({ length: 30 }, (_, i) => i)
    expect(measure([...times.slice(0, 10), 9.001, 9.002, ...times.slice(10)])).toBe(PICTURE_TICKS)
  })
})
