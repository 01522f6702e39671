import { beforeEach, describe, expect, it } from 'vitest'
import { createFrameIndex, type FrameIndex, type SeekTarget } from './frame-index.ts'

const TICKS_PER_MS = 90
const ORIGIN_MS = 1_000_000
/** Ticks of frames at these times of the playback in ms. */
const toTicks = (timesMs: number[]) => timesMs.map(ms => ms * TICKS_PER_MS)

describe('frame index', () => {
  let index: FrameIndex
  beforeEach(() => {
    index = createFrameIndex()
    index.add({ frames: toTicks([0, 40, 80]), end: 120 * TICKS_PER_MS, originMs: ORIGIN_MS })
    // Recorded ten seconds later, after a gap that playback skips.
    const originMs = ORIGIN_MS + 10_000
    index.add({ frames: toTicks([120, 160]), end: 200 * TICKS_PER_MS, originMs })
  })
  const find = (timeMs: number, match: SeekTarget['match'] = 'before', isComplete = false) => {
    const ticks = index.find({ timeMs: ORIGIN_MS + timeMs, match }, isComplete)
    return ticks === undefined ? undefined : ticks / TICKS_PER_MS
  }

  it('finds the frame on display at a time', () => {
    expect([find(40), find(79), find(5_000)]).toEqual([40, 40, 80])
  })

  it('finds the first frame for a time before it', () => {
    expect(find(-1)).toBe(0)
  })

  it('finds the nearest frame for a rounded time', () => {
    expect([find(39, 'nearest'), find(41, 'nearest')]).toEqual([40, 40])
  })

  it('finds the frame after a time, which may be rounded', () => {
    expect([find(40, 'after'), find(39.9, 'after'), find(80, 'after')]).toEqual([80, 80, 120])
    expect(find(10_160, 'after')).toBeUndefined()
    expect(find(10_160, 'after', true)).toBe(160)
  })

  it('waits for later frames until loading is complete', () => {
    expect(find(10_160)).toBeUndefined()
    expect(find(20_000, 'before', true)).toBe(160)
  })

  it('returns the recording time of a frame on either side of a gap', () => {
    expect(toTicks([80, 120]).map(index.getRecordedMs)).toEqual([
      ORIGIN_MS + 80,
      ORIGIN_MS + 10_120,
    ])
    expect(index.getSpan()).toEqual({
      firstMs: ORIGIN_MS,
      lastMs: ORIGIN_MS + 10_160,
      endMs: ORIGIN_MS + 10_200,
    })
  })

  it('finds the neighbours of a frame across a gap, and none beyond the buffer', () => {
    const [current] = toTicks([80]) as [number]
    expect([-1, 1, 2].map(steps => index.findNeighbor(current, steps))).toEqual(
      toTicks([40, 120, 160]),
    )
    expect(index.findNeighbor(current, 3)).toBeUndefined()
  })

  it('drops fragments whose frames were removed from the buffer', () => {
    index.removeBefore(81 * TICKS_PER_MS)
    expect(index.getSpan()?.firstMs).toBe(ORIGIN_MS + 10_120)
  })
})
