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
  it('are averages, told once there are enough frames to tell', () => {
    const costs = createCosts()
    for (let n = 0; n < 49; n++) costs.processed('count', '1.0.0', n % 2 ? 1 : 3)
    expect(costs.element('count', '1.0.0')).toBeUndefined()
    costs.processed('count', '1.0.0', 1)
    expect(costs.element('count', '1.0.0')).toBeCloseTo(2)
    expect(costs.element('count', '1.0.1')).toBeUndefined()
  })

  it('follow what changes', () => {
    const costs = createCosts()
    for (const ms of [10, 2]) for (let n = 0; n < 1000; n++) costs.processed('count', '1.0.0', ms)
    expect(costs.element('count', '1.0.0')).toBeCloseTo(2, 0)
  })

  it('of inference are those of the model, the device and the size; of an unknown height the cheapest', () => {
    const costs = createCosts()
    for (let n = 0; n < 50; n++) {
      costs.inferred({ ...model, size: square }, 15)
      costs.inferred({ ...model, size: flat }, 9)
    }
    const of = (view: { width?: number; height?: number }, more = {}) =>
      costs.inference({ model: 'm', ...model, view, ...more })
    expect(of(square)).toBeCloseTo(15)
    expect(of({ width: 416 })).toBeCloseTo(9)
    expect(of({})).toBeCloseTo(9)
    expect(of({ width: 640 })).toBeUndefined()
    expect(of(square, { device: 'gpu' })).toBeUndefined()
    expect(of(square, { sha256: 'def' })).toBeUndefined()
  })

  it('of a source stay with its address and decoder, whatever its id, rate and password', () => {
    const costs = createCosts()
    costs.decoded(camera, { fps: 25, decodeMs: 4, scaleMs: 1 })
    const same = { ...camera, id: 7, rate: 5, address: { url: 'rtsp://me:second@camera/1' } }
    expect(costs.source(same)).toEqual({ fps: 25, decodeMs: 4, scaleMs: 1 })
    expect(costs.source({ ...camera, decoder: 'ffmpeg' })).toBeUndefined()
    expect(costs.source({ ...camera, address: { url: 'rtsp://camera/2' } })).toBeUndefined()
    expect(JSON.stringify(costs.table())).not.toMatch(/camera|first/)
  })

  it('are forgotten, the oldest first, before they fill the memory', () => {
    const costs = createCosts()
    for (let n = 0; n < 5000; n++)
      costs.decoded({ ...camera, address: { url: `rtsp://camera/${n}` } }, { fps: 1, decodeMs: 1 })
    expect(Object.keys(costs.table())).toHaveLength(2000)
    expect(costs.source({ ...camera, address: { url: 'rtsp://camera/4999' } })).toBeDefined()
    expect(costs.source({ ...camera, address: { url: 'rtsp://camera/2999' } })).toBeUndefined()
  })
})
