import { beforeEach, describe, expect, it } from 'vitest'
import { createMetadataBuffer, type FrameMetadata, type MetadataBuffer } from './metadata-buffer.ts'

const EPOCH = 1
const frame = (pts: number, epoch = EPOCH): FrameMetadata => ({
  pts,
  epoch,
  objects: [],
  counters: {},
})

describe('a metadata buffer', () => {
  let buffer: MetadataBuffer
  beforeEach(() => {
    buffer = createMetadataBuffer()
  })

  it('finds the metadata of exactly the frame that is shown', () => {
    for (const pts of [3_000, 6_000, 9_000]) buffer.add(frame(pts))
    expect(buffer.find(EPOCH, 6_000)).toEqual({ metadata: frame(6_000), exact: true })
  })

  it('forgives a rounding of the clock, in both directions', () => {
    buffer.add(frame(6_000))
    expect(buffer.find(EPOCH, 5_999)?.exact).toBe(true)
    expect(buffer.find(EPOCH, 6_001)?.exact).toBe(true)
  })

  it('tells frames a thousand ticks apart from each other', () => {
    buffer.add(frame(6_000))
    expect(buffer.find(EPOCH, 7_000)?.exact).toBe(false)
  })

  it('shows the latest frame before one that was not analysed, and says so', () => {
    for (const pts of [3_000, 9_000]) buffer.add(frame(pts))
    expect(buffer.find(EPOCH, 6_000)).toEqual({ metadata: frame(3_000), exact: false })
  })

  it('never shows the metadata of a later frame', () => {
    buffer.add(frame(9_000))
    expect(buffer.find(EPOCH, 6_000)).toBeUndefined()
  })

  it('shows nothing when the latest metadata is older than a second', () => {
    buffer.add(frame(3_000))
    expect(buffer.find(EPOCH, 93_000)?.exact).toBe(false)
    expect(buffer.find(EPOCH, 93_001)).toBeUndefined()
  })

  it('sorts in what arrives in another order', () => {
    for (const pts of [9_000, 3_000, 6_000]) buffer.add(frame(pts))
    expect(buffer.find(EPOCH, 8_000)?.metadata.pts).toBe(6_000)
  })

  it('knows nothing of a frame of another epoch', () => {
    buffer.add(frame(6_000))
    expect(buffer.find(EPOCH + 1, 6_000)).toBeUndefined()
  })

  it('forgets an epoch when the next begins', () => {
    buffer.add(frame(900_000))
    buffer.add(frame(6_000, EPOCH + 1))
    expect(buffer.find(EPOCH, 900_000)).toBeUndefined()
    expect(buffer.find(EPOCH + 1, 6_000)?.exact).toBe(true)
  })

  it('keeps ten seconds', () => {
    buffer.add(frame(0))
    buffer.add(frame(900_000))
    expect(buffer.find(EPOCH, 0)?.exact).toBe(true)
    buffer.add(frame(900_001))
    expect(buffer.find(EPOCH, 0)).toBeUndefined()
  })
})
