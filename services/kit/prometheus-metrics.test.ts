import { Hono } from 'hono'
import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { parseExposition } from '../../test/fixtures/network/prometheus.ts'
import { addCounter, addGauge, type Sample, serveMetrics } from './prometheus-metrics.ts'

const frames = { name: 'frames_total', help: 'Frames.', labelNames: ['path'] }

describe('metrics that are read at each scrape', () => {
  it('are served with help, type and one line for each sample', async () => {
    const registry = new Registry()
    addCounter(registry, {
      ...frames,
      labelNames: ['channel', 'reason'],
      read: () => [
        [{ channel: 1, reason: 'late' }, 3],
        [{ channel: 2, reason: 'late' }, 0],
      ],
    })
    addGauge(registry, {
      name: 'load',
      help: 'Load.',
      read: async () => 0.5,
    })
    const response = await new Hono().get('/', serveMetrics(registry)).request('/')
    expect(response.headers.get('Content-Type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(await response.text()).toBe(
      '# HELP frames_total Frames.\n# TYPE frames_total counter\nframes_total{channel="1",reason="late"} 3\nframes_total{channel="2",reason="late"} 0\n\n# HELP load Load.\n# TYPE load gauge\nload 0.5\n',
    )
  })

  it('omit series that no longer exist', async () => {
    const registry = new Registry()
    let samples: Sample[] = [
      [{ path: 'a' }, 1],
      [{ path: 'b' }, 2],
    ]
    addCounter(registry, { ...frames, read: () => samples })
    await registry.metrics()
    samples = [[{ path: 'b' }, 5]]
    const families = parseExposition(await registry.metrics())
    expect(families.get('frames_total')!.samples).toEqual(new Map([['path="b"', 5]]))
  })

  it('escape help texts and labels and render infinite values', async () => {
    const registry = new Registry()
    addCounter(registry, {
      ...frames,
      help: 'In C:\\frames,\nand below.',
      read: () => [[{ path: 'a "b"\\\n{c="d"}, e' }, 1e21]],
    })
    addGauge(registry, {
      name: 'load',
      help: 'Load.',
      labelNames: ['at'],
      read: () => [
        [{ at: 'max' }, Number.POSITIVE_INFINITY],
        [{ at: 'min' }, Number.NEGATIVE_INFINITY],
      ],
    })
    const families = parseExposition(await registry.metrics())
    expect(families.get('frames_total')).toEqual({
      type: 'counter',
      help: 'In C:\\frames,\nand below.',
      samples: new Map([['path="a \\"b\\"\\\\\\n{c=\\"d\\"}, e"', 1e21]]),
    })
    expect([...families.get('load')!.samples.values()]).toEqual([
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
    ])
  })
})

describe('the parser of the text format', () => {
  const family = '# HELP frames_total Frames.\n# TYPE frames_total counter\nframes_total 3\n'

  it('reads infinite values and NaN', () => {
    const text =
      '# HELP load Load.\n# TYPE load gauge\nload{at="a"} +Inf\nload{at="b"} -Inf\nload{at="c"} NaN\n'
    expect([...parseExposition(text).get('load')!.samples.values()]).toEqual([
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      Number.NaN,
    ])
  })

  it.each([
    ['a repeated metric', family + family, /duplicate family/],
    ['a value twice', `${family}frames_total 4\n`, /duplicate sample/],
    ['a counter without _total', family.replaceAll('_total', ''), /must end with _total/],
    ['an unquoted label', 'frames_total{a=1} 1\n', /neither a comment nor a sample/],
    ['a sample without a type', 'frames_total 1\n', /outside its family/],
    ['a missing final newline', family.trimEnd(), /not terminated/],
  ])('rejects %s', (_, text, fault) => {
    expect(() => parseExposition(text)).toThrow(fault)
  })
})
