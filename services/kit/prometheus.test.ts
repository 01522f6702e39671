import { expect, it } from 'vitest'
import { family } from './prometheus.ts'

it('a family has its type and a line for each value', () => {
  expect(
    family('frames_total', 'counter', [
      [{ channel: 1, reason: 'a "b"\\\n' }, 3],
      [{}, 0.5],
    ]),
  ).toBe(
    '# TYPE frames_total counter\nframes_total{channel="1",reason="a \\"b\\"\\\\\\n"} 3\nframes_total 0.5\n',
  )
})
