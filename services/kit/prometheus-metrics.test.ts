import { expect, it } from 'vitest'
import { readExposition } from '../../test/fixtures/exposition.ts'
import { type MetricFamily, renderMetrics } from './prometheus-metrics.ts'

const frames: MetricFamily = { name: 'frames_total', type: 'counter', help: 'Frames.', samples: [[{}, 3]] }

it('a family is told with its help, its type and a line for each value', () => {
  const samples: MetricFamily['samples'] = [
    [{ channel: 1, reason: 'late' }, 3],
    [{}, 0.5],
  ]
  expect(renderMetrics([{ ...frames, samples }])).toBe(
    '# HELP frames_total Frames.\n# TYPE frames_total counter\nframes_total{channel="1",reason="late"} 3\nframes_total 0.5\n',
  )
})

it('whatever a label, a help or a value is, a scraper reads it', () => {
  const text = renderMetrics([
    { ...frames, help: 'In C:\\frames,\nand beside.', samples: [[{ path: 'a "b"\\\n{c="d"}, e' }, 1e21]] },
    {
      name: 'load',
      type: 'gauge',
      help: 'Load.',
      samples: [
        [{ at: 'most' }, Number.POSITIVE_INFINITY],
        [{ at: 'least' }, Number.NEGATIVE_INFINITY],
        [{ at: 'rest' }, Number.NaN],
      ],
    },
  ])
  const families = readExposition(text)
  expect(families.get('frames_total')).toEqual({
    type: 'counter',
    help: 'In C:\\frames,\nand beside.',
    samples: new Map([['path="a \\"b\\"\\\\\\n{c=\\"d\\"}, e"', 1e21]]),
  })
  expect([...families.get('load')!.samples.values()]).toEqual([
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.NaN,
  ])
})

it.each([
  ['a family twice', renderMetrics([frames, frames]), /comes twice/],
  [
    'a value twice',
    renderMetrics([{ ...frames, samples: [...frames.samples, [{}, 4]] }]),
    /sample comes twice/,
  ],
  ['a counter of another name', renderMetrics([{ ...frames, name: 'frames' }]), /not named so/],
  ['a label without quotes', 'frames_total{a=1} 1\n', /neither a comment nor a sample/],
  ['a value without its family', 'frames_total 1\n', /outside its family/],
  ['a last line without end', renderMetrics([frames]).trimEnd(), /no end/],
])('the reader of these tests notices %s', (_, text, fault) => {
  expect(() => readExposition(text)).toThrow(fault)
})
