import { setImmediate } from 'node:timers/promises'
import { type ViewSpec, viewSpec } from '@eyrie/contract/view'
import type { Element, Frame, FrameResult } from '@eyrie/element'
import { FrameDroppedError } from '@eyrie/element/inference'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { FrameStamp } from '../frames/ring-reader.ts'
import type { Opening } from '../plugin-host/open-element.ts'
import { Chain } from './chain.ts'
import type { StagePlan } from './stage-plan.ts'

const stamp = (n: number): FrameStamp => ({
  n,
  pts: n * 3600,
  time: n * 40_000,
  discontinuity: false,
  width: 16,
  height: 9,
})
const person = { class: 'person', score: 0.9, bbox: { x: 0, y: 0, w: 0.1, h: 0.1 } }

let chain: Chain
afterEach(() => chain.close())

async function chainOf(...stages: StagePlan[]): Promise<Chain> {
  chain = new Chain(stages, {
    ringOf: () => undefined,
    backoff: { initialMs: 1, maxMs: 1 },
    random: () => 1,
    onChange: () => {},
  })
  await chain.settled
  return chain
}

function stage(
  name: string,
  process: (frame: Frame) => FrameResult | Promise<FrameResult>,
  { stateless = false, ...rest }: Partial<Element & { stateless: boolean }> = {},
): StagePlan {
  return { name, stateless, open: async () => ({ ...rest, process }) }
}

describe('the elements of a channel', () => {
  it('see what those before them have found, and add to it', async () => {
    const { process } = await chainOf(
      stage('detect', () => ({ objects: [person], counters: { line: { up: 1 } } })),
      stage('keep', () => ({})),
      stage('count', ({ objects }) => ({
        counters: { line: { seen: objects.length }, zone: { total: 2 } },
        events: [{ type: 'seen' }],
      })),
    ).then(chain => ({ process: (n: number) => chain.process(stamp(n)) }))
    expect(await process(1)).toEqual({
      objects: [person],
      counters: { line: { up: 1, seen: 1 }, zone: { total: 2 } },
      events: [{ type: 'seen' }],
    })
  })

  it('are opened in order, each with the size that was asked for before it', async () => {
    const openings: Opening[] = []
    const asking = (name: string, element: Partial<Element>): StagePlan => ({
      name,
      stateless: false,
      open: async opening => {
        openings.push(opening)
        return { process: () => ({}), ...element }
      },
    })
    const view: ViewSpec = viewSpec.parse({ format: 'RGB', width: 100 })
    await chainOf(
      asking('first', {}),
      asking('resize', { size: { scale: 0.5 } }),
      asking('infer', { view, metadata: { model: 'person' } }),
    )
    expect(openings.map(({ size }) => size)).toEqual([undefined, undefined, { scale: 0.5 }])
    expect(chain.views).toEqual([view])
    expect(chain.metadata).toEqual({ infer: { model: 'person' } })
  })

  it('work on several frames side by side where they keep nothing, and in order where they do', async () => {
    const answers = new Map<number, () => void>()
    const counted: number[] = []
    await chainOf(
      stage('infer', ({ n }) => new Promise(resolve => answers.set(n, () => resolve({}))), {
        stateless: true,
      }),
      stage('count', ({ n }) => {
        counted.push(n)
        return {}
      }),
    )
    const frames = [1, 2, 3].map(n => chain.process(stamp(n)))
    await vi.waitUntil(() => answers.size === 3)
    for (const n of [3, 1, 2]) {
      answers.get(n)!()
      await setImmediate()
    }
    await Promise.all(frames)
    expect(counted).toEqual([1, 2, 3])
  })

  it('pass over a frame that is gone, and keep what they know', async () => {
    let count = 0
    await chainOf(
      stage('infer', ({ n }) => {
        if (n === 2) throw new FrameDroppedError(n)
        return {}
      }),
      stage('count', () => ({ counters: { frames: { total: ++count } } })),
    )
    const results = await Promise.all([1, 2, 3].map(n => chain.process(stamp(n))))
    expect(results[1]).toBe('gone')
    expect(results[2]).toMatchObject({ counters: { frames: { total: 2 } } })
    expect(chain.failure).toBeUndefined()
  })
})

describe('an element that fails', () => {
  it('is opened again, alone, and said to have failed until it works', async () => {
    let opened = 0
    let counted = 0
    await chainOf(
      stage('count', () => ({ counters: { frames: { total: ++counted } } })),
      {
        name: 'fragile',
        stateless: false,
        open: async () => {
          const life = ++opened
          return {
            process: () => {
              if (life === 1) throw new Error('boom')
              return {}
            },
          }
        },
      },
    )
    expect(await chain.process(stamp(1))).toBe('failed')
    expect(chain.failure).toBe('fragile: boom')
    await vi.waitUntil(() => chain.isUp)
    expect(opened).toBe(2)
    expect(await chain.process(stamp(2))).toMatchObject({ counters: { frames: { total: 2 } } })
    expect(chain.failure).toBeUndefined()
  })

  it('is tried again until it opens', async () => {
    let attempts = 0
    await chainOf({
      name: 'late',
      stateless: false,
      open: async () => {
        if (++attempts < 4) throw new Error('no model yet')
        return { process: () => ({}) }
      },
    })
    expect(chain.failure).toBe('late: no model yet')
    await vi.waitUntil(() => chain.isUp)
    expect(attempts).toBe(4)
  })

  it('is not opened again once the channel has gone', async () => {
    let attempts = 0
    await chainOf({
      name: 'late',
      stateless: false,
      open: async () => {
        attempts++
        throw new Error('no model yet')
      },
    })
    chain.close()
    const before = attempts
    await setImmediate()
    expect(attempts).toBe(before)
  })

  it('with a view that is none fails before media is asked for it', async () => {
    await chainOf(stage('wild', () => ({}), { view: { format: 'XYZ' } as unknown as ViewSpec }))
    expect(chain.failure).toMatch(/^wild: \/view\/format/)
    expect(chain.views).toEqual([])
  })
})
