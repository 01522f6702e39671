import { describe, expect, it } from 'vitest'
import { createElementMetrics, MAX_METRICS } from './metrics.ts'

describe('element metrics', () => {
  it('are collected after they have changed', () => {
    const { metrics, collect } = createElementMetrics()
    expect(collect()).toBeUndefined()
    metrics.set('tilt', 0.5)
    metrics.add('resets')
    metrics.add('resets', 2)
    expect(collect()).toEqual({ values: { tilt: 0.5 }, totals: { resets: 3 } })
    metrics.set('tilt', 0.5)
    expect(collect()).toBeUndefined()
  })

  it('reject names, values and numbers of metrics that Prometheus could not serve', () => {
    const { metrics } = createElementMetrics()
    expect(() => metrics.set('Tilt', 1)).toThrow(
      /metric Tilt should have a name of lower-case letters/,
    )
    expect(() => metrics.set('tilt', Number.NaN)).toThrow(/value NaN of the metric tilt/)
    expect(() => metrics.add('resets', -1)).toThrow(/would decrease/)
    for (let i = 0; i < MAX_METRICS; i += 1) metrics.set(`metric_${i}`, i)
    expect(() => metrics.set('another', 1)).toThrow(/more than 32 metrics/)
    expect(() => metrics.set('metric_0', 2)).not.toThrow()
  })

  it('reject a total that JSON cannot express', () => {
    const { metrics, collect } = createElementMetrics()
    metrics.add('bytes', 1e308)
    expect(() => metrics.add('bytes', 1e308)).toThrow(/total of the metric bytes is too large/)
    expect(collect()).toEqual({ values: {}, totals: { bytes: 1e308 } })
  })
})
