import { beforeEach, describe, expect, it } from 'vitest'
import { createMetadataBuffer, type FrameMetadata, type MetadataBuffer } from './metadata-buffer.ts'

const EPOCH = 1
const frame = (pts: number, epoch = EPOCH): FrameMetadata => ({
  pts,
  epoch,
  objects: [],
  counters: {},
})

describe('metadata buffer', () => {
  let buffer: MetadataBuffer
  beforeEach(() => {
    buffer = createMetadataBuffer()
  })
  const find = (pts: number, epoch = EPOCH) => buffer.find({ epoch, pts })

  it('finds the metadata of exactly the requested frame', () => {
    for (const pts of [3_000, 6_000, 9_000]) buffer.add(frame(pts))
    expect(find(6_000)).toEqual({ metadata: frame(6_000), exact: true })
  })

  it('tolerates rounding of the clock in both directions', () => {
    buffer.add(frame(6_000))
    expect(find(5_999)?.exact).toBe(true)
    expect(find(6_001)?.exact).toBe(true)
  })

  it('tolerates the deviation of a sub stream, and then returns the nearest frame', () => {
    for (const pts of [5_700, 6_000, 6_400]) buffer.add(frame(pts))
    expect(find(6_100)).toEqual({ metadata: frame(6_000), exact: true })
    expect(find(6_300)).toEqual({ metadata: frame(6_400), exact: true })
  })

  it('distinguishes frames that are 1000 ticks apart', () => {
    buffer.add(frame(6_000))
    expect(find(7_000)?.exact).toBe(false)
  })

  it('returns the latest earlier frame, marked as not exact, for a frame without metadata', () => {
    for (const pts of [3_000, 9_000]) buffer.add(frame(pts))
    expect(find(6_000)).toEqual({ metadata: frame(3_000), exact: false })
  })

  it('never returns the metadata of a later frame', () => {
    buffer.add(frame(9_000))
    expect(find(6_000)).toBeUndefined()
  })

  it('returns nothing when the latest metadata is older than a second', () => {
    buffer.add(frame(3_000))
    expect(find(93_000)?.exact).toBe(false)
    expect(find(93_001)).toBeUndefined()
  })

  it('sorts metadata that arrives out of order', () => {
    for (const pts of [9_000, 3_000, 6_000]) buffer.add(frame(pts))
    expect(find(8_000)?.metadata.pts).toBe(6_000)
  })

  it('returns nothing for a frame of another epoch', () => {
    buffer.add(frame(6_000))
    expect(find(6_000, EPOCH + 1)).toBeUndefined()
  })

  it('discards an epoch when the next one begins', () => {
    buffer.add(frame(900_000))
    buffer.add(frame(6_000, EPOCH + 1))
    expect(find(900_000)).toBeUndefined()
    expect(find(6_000, EPOCH + 1)?.exact).toBe(true)
  })

  it('retains ten seconds', () => {
    buffer.add(frame(0))
    buffer.add(frame(900_000))
    expect(find(0)?.exact).toBe(true)
    buffer.add(frame(900_001))
    expect(find(0)).toBeUndefined()
  })
})
