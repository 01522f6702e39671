import { describe, expect, it } from 'vitest'
import { createDesiredSource, createViewSpec } from '../../../test/fixtures/media/control-client.ts'
import { serveMedia } from '../../../test/fixtures/media/served-media.ts'
import { makeVideo } from '../../../test/fixtures/media/test-video.ts'
import { calculateCost } from './cost-meter.ts'

describe('cost meter', () => {
  it('reports the decoding and scaling time of a source while it is decoded', async () => {
    const media = await serveMedia()
    makeVideo(`${media.folder}/clip.mp4`, { frames: 200, fps: 20, width: 1280, height: 720 })
    const source = createDesiredSource({ id: 4, type: 'inf', url: `${media.folder}/clip.mp4` })
    const control = await media.connectControl()
    await control.apply({
      ...source,
      views: { small: createViewSpec({ format: 'BGRP', width: 416, multiple_of: 32 }) },
    })
    // A busy machine may receive hardly anything in an interval, and catch up in the next.
    const cost = await control.message('cost', ({ fps }) => fps > 5 && fps < 25)
    expect(cost).toMatchObject({
      source: 4,
      decode_ms: expect.any(Number),
      scale_ms: expect.any(Number),
    })
    expect(cost.decode_ms).toBeGreaterThan(0)
    expect(cost.scale_ms).toBeGreaterThan(0)
    control.close()
  }, 180_000)
})

describe('cost of a source', () => {
  const counts = {
    hasReaders: true,
    decoding: true,
    views: 1,
    written: 100,
    dropped: 0,
    packets: 200,
  }
  const time = { decodeMs: 500, scaleMs: 60 }

  it('divides decoding time by packets received and scaling time by frames written', () => {
    const now = { ...counts, written: 130, packets: 300 }
    expect(calculateCost(counts, now, time, 5000)).toEqual({ fps: 20, decode_ms: 5, scale_ms: 2 })
    expect(calculateCost(counts, { ...now, written: 100 }, time, 5000)).toEqual({
      fps: 20,
      decode_ms: 5,
    })
  })

  it('is reported for a source that is reconnecting at a reading', () => {
    const reconnecting = { ...counts, decoding: false }
    expect(calculateCost(reconnecting, { ...counts, packets: 300 }, time, 5000)).toBeDefined()
    expect(calculateCost(counts, { ...reconnecting, packets: 300 }, time, 5000)).toBeDefined()
  })

  it.each([
    ['was added during the interval', undefined, counts],
    ['had no readers at the start', { ...counts, hasReaders: false }, { ...counts, packets: 300 }],
    ['has no readers at the end', counts, { ...counts, packets: 300, hasReaders: false }],
    ['sent nothing', counts, counts],
  ])('is not reported for a source that %s', (_, before, now) => {
    expect(calculateCost(before, now, time, 5000)).toBeUndefined()
  })
})
