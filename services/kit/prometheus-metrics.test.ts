import { describe, expect, it } from 'vitest'
import { parseExposition } from '../../test/fixtures/network/prometheus.ts'
import { type MetricFamily, renderMetrics } from './prometheus-metrics.ts'

const frames: MetricFamily = { name: 'frames_total', type: 'counter', help: 'Frames.', samples: [[{}, 3]] }

describe('renderMetrics', () => {
  it('renders help, type and one line for each sample', () => {
    const samples: MetricFamily['samples'] = [
      [{ channel: 1, reason: 'late' }, 3],
      [{}, 0.5],
    ]
    expect(renderMetrics([{ ...frames, samples }])).toBe(
      '# HELP frames_total Frames.\n# TYPE frames_total counter\nframes_total{channel="1",reason="late"} 3\nframes_total 0.5\n',
    )
  })

  it('escapes help texts and labels and renders special numbers', () => {
    const text = renderMetrics([
      { ...frames, help: 'In C:\\frames,\nand below.', samples: [[{ path: 'a "b"\\\n{c="d"}, e' }, 1e21]] },
      {
        name: 'load',
        type: 'gauge',
        help: 'Load.',
        samples: [
          [{ at: 'max' }, Number.POSITIVE_INFINITY],
          [{ at: 'min' }, Number.NEGATIVE_INFINITY],
          [{ at: 'none' }, Number.NaN],
        ],
      },
    ])
    const families = parseExposition(text)
    expect(families.get('frames_total')).toEqual({
      type: 'counter',
      help: 'In C:\\frames,\nand below.',
      samples: new Map([['path="a \\"b\\"\\\\\\n{c=\\"d\\"}, e"', 1e21]]),
    })
    expect([...families.get('load')!.samples.values()]).toEqual([
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      Number.NaN,
    ])
  })

  it.each([
    ['a repeated metric', renderMetrics([frames, frames]), /duplicate family/],
    [
      'a value twice',
      renderMetrics([{ ...frames, samples: [...frames.samples, [{}, 4]] }]),
      /duplicate sample/,
    ],
    ['a counter without _total', renderMetrics([{ ...frames, name: 'frames' }]), /must end with _total/],
    ['an unquoted label', 'frames_total{a=1} 1\n', /neither a comment nor a sample/],
    ['a sample without a type', 'frames_total 1\n', /outside its family/],
    ['a missing final newline', renderMetrics([frames]).trimEnd(), /not terminated/],
  ])('is checked by a parser that rejects %s', (_, text, fault) => {
    expect(() => parseExposition(text)).toThrow(fault)
  })
})
