import { describe, expect, it } from 'vitest'
import type { SourcePlan } from '../plan/plan.ts'
import { createCosts } from './costs.ts'

const camera: SourcePlan = {
  id: 1,
  type: 'video',
  address: { url: 'rtsp://me:first@camera/1' },
  decoder: 'gst_h264',
  rate: undefined,
  pacing: 'realtime',
  ended: false,
}
const model = { sha256: 'abc', device: 'cpu' }
const square = { width: 416, height: 416 }
const flat = { width: 416, height: 256 }

describe('costs', () => {
  it('are averages over a minimum number of frames', () => {
    const costs = createCosts()
    for (let n = 0; n < 49; n++) costs.recordElement('count', '1.0.0', n % 2 ? 1 : 3)
    expect(costs.elementCost('count', '1.0.0')).toBeUndefined()
    costs.recordElement('count', '1.0.0', 1)
    expect(costs.elementCost('count', '1.0.0')).toBeCloseTo(2)
    expect(costs.elementCost('count', '1.0.1')).toBeUndefined()
  })

  it('adapt to changes', () => {
    const costs = createCosts()
    for (const ms of [10, 2]) {
      for (let n = 0; n < 1000; n++) costs.recordElement('count', '1.0.0', ms)
    }
    expect(costs.elementCost('count', '1.0.0')).toBeCloseTo(2, 0)
  })

  it('of inference depend on model, device and size; the cheapest size is assumed for an unknown height', () => {
    const costs = createCosts()
    for (let n = 0; n < 50; n++) {
      costs.recordInference({ ...model, size: square }, 15)
      costs.recordInference({ ...model, size: flat }, 9)
    }
    const of = (view: { width?: number; height?: number }, more = {}) =>
      costs.inferenceCost({ model: 'm', ...model, view, ...more })
    expect(of(square)).toBeCloseTo(15)
    expect(of({ width: 416 })).toBeCloseTo(9)
    expect(of({})).toBeCloseTo(9)
    expect(of({ width: 640 })).toBeUndefined()
    expect(of(square, { device: 'gpu' })).toBeUndefined()
    expect(of(square, { sha256: 'def' })).toBeUndefined()
  })

  it('of a source depend on address and decoder, but not on id, rate or password', () => {
    const costs = createCosts()
    costs.recordDecoding(camera, { fps: 25, decodeMs: 4, scaleMs: 1 })
    const same = { ...camera, id: 7, rate: 5, address: { url: 'rtsp://me:second@camera/1' } }
    expect(costs.sourceCost(same)).toEqual({ fps: 25, decodeMs: 4, scaleMs: 1 })
    expect(costs.sourceCost({ ...camera, decoder: 'ffmpeg' })).toBeUndefined()
    expect(costs.sourceCost({ ...camera, address: { url: 'rtsp://camera/2' } })).toBeUndefined()
    expect(JSON.stringify(costs.toTable())).not.toMatch(/camera|first/)
  })

  it('are limited in number: the least recently measured entry is removed', () => {
    const costs = createCosts()
    for (let n = 0; n < 5000; n++) {
      costs.recordDecoding(
        { ...camera, address: { url: `rtsp://camera/${n}` } },
        { fps: 1, decodeMs: 1 },
      )
    }
    expect(Object.keys(costs.toTable())).toHaveLength(2000)
    expect(costs.sourceCost({ ...camera, address: { url: 'rtsp://camera/4999' } })).toBeDefined()
    expect(costs.sourceCost({ ...camera, address: { url: 'rtsp://camera/2999' } })).toBeUndefined()
  })
})
