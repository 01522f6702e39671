import { setImmediate } from 'node:timers/promises'
import { type ViewSpec, viewSpec } from '@eyrie/contract/view'
import type { Element, Frame, FrameResult } from '@eyrie/element'
import { FrameDroppedError } from '@eyrie/element/inference'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { FrameStamp } from '../frames/ring-reader.ts'
import type { OpenContext } from '../plugin-host/open-element.ts'
import { ElementChain } from './element-chain.ts'
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

let chain: ElementChain
afterEach(() => chain.close())

async function openChain(...stages: StagePlan[]): Promise<ElementChain> {
  chain = new ElementChain(stages, {
    findRing: () => undefined,
    backoff: { initialMs: 1, maxMs: 1 },
    random: () => 1,
    onChange: () => {},
  })
  await chain.initialized
  return chain
}

function stage(
  name: string,
  process: (frame: Frame) => FrameResult | Promise<FrameResult>,
  { stateless = false, ...rest }: Partial<Element & { stateless: boolean }> = {},
): StagePlan {
  return { name, isStateless: stateless, open: async () => ({ ...rest, process }) }
}

describe('element chain', () => {
  it('passes the results of earlier elements to later ones and merges them', async () => {
    const { process } = await openChain(
      stage('detect', () => ({ objects: [person], counters: { line: { up: 1 } } })),
      stage('pass', () => ({})),
      stage('count', ({ objects }) => ({
        counters: { line: { total: objects.length }, zone: { total: 2 } },
        events: [{ type: 'counted' }],
      })),
    ).then(chain => ({ process: (n: number) => chain.process(stamp(n)) }))
    expect(await process(1)).toEqual({
      objects: [person],
      counters: { line: { up: 1, total: 1 }, zone: { total: 2 } },
      events: [{ type: 'counted' }],
    })
  })

  it('keeps counters of the same name apart if elements count the same key', async () => {
    const line = { up: 1, down: 0, total: 1 }
    const zone = { occupancy: 3, total: 7, dwell_time: 2 }
    const chain = await openChain(
      stage('line-crossing', () => ({ counters: { gate: line } })),
      stage('zones', () => ({ counters: { gate: zone } })),
      stage('zones', () => ({ counters: { gate: zone } })),
      stage('speed', () => ({ counters: { gate: { speed: 5 } } })),
    )
    expect(await chain.process(stamp(1))).toMatchObject({
      counters: { gate: { ...line, speed: 5 }, 'gate (zones)': zone, 'gate (zones) 2': zone },
    })
  })

  it('passes low-score objects to later elements until one of them replaces them, and returns none', async () => {
    const weak = { ...person, score: 0.2 }
    const received: number[] = []
    const count = stage('count', ({ lowScoreObjects }) => {
      received.push(lowScoreObjects.length)
      return {}
    })
    const { process } = await openChain(
      count,
      stage('detect', () => ({ objects: [person], lowScoreObjects: [weak] })),
      count,
      stage('track', () => ({ lowScoreObjects: [] })),
      count,
    ).then(chain => ({ process: (n: number) => chain.process(stamp(n)) }))
    expect(await process(1)).toEqual({ objects: [person], counters: {}, events: [] })
    expect(received).toEqual([0, 1, 0])
  })

  it('opens elements in order, each with the picture size that an earlier element requested', async () => {
    const openings: OpenContext[] = []
    const requesting = (name: string, element: Partial<Element>): StagePlan => ({
      name,
      isStateless: false,
      open: async opening => {
        openings.push(opening)
        return { process: () => ({}), ...element }
      },
    })
    const view: ViewSpec = viewSpec.parse({ format: 'RGB', width: 100 })
    await openChain(
      requesting('first', {}),
      requesting('resize', { size: { scale: 0.5 } }),
      requesting('infer', { view, metadata: { model: 'person' } }),
    )
    expect(openings.map(({ size }) => size)).toEqual([undefined, undefined, { scale: 0.5 }])
    expect(chain.views).toEqual([view])
    expect(chain.metadata).toEqual({ infer: { model: 'person' } })
  })

  it('runs stateless elements on several frames at once and stateful elements in the order of frames', async () => {
    const pending = new Map<number, () => void>()
    const counted: number[] = []
    await openChain(
      stage('infer', ({ n }) => new Promise(resolve => pending.set(n, () => resolve({}))), {
        stateless: true,
      }),
      stage('count', ({ n }) => {
        counted.push(n)
        return {}
      }),
    )
    const frames = [1, 2, 3].map(n => chain.process(stamp(n)))
    await vi.waitUntil(() => pending.size === 3)
    for (const n of [3, 1, 2]) {
      pending.get(n)!()
      await setImmediate()
    }
    await Promise.all(frames)
    expect(counted).toEqual([1, 2, 3])
  })

  it('skips an overwritten frame and keeps the state of its elements', async () => {
    let count = 0
    await openChain(
      stage('infer', ({ n }) => {
        if (n === 2) throw new FrameDroppedError(n)
        return {}
      }),
      stage('count', () => ({ counters: { frames: { total: ++count } } })),
    )
    const results = await Promise.all([1, 2, 3].map(n => chain.process(stamp(n))))
    expect(results[1]).toEqual({ cause: 'overwritten', events: [] })
    expect(results[2]).toMatchObject({ counters: { frames: { total: 2 } } })
    expect(chain.failure).toBeUndefined()
  })
})

describe('dropped frame', () => {
  /** An element that records the frames that it receives, and those with a discontinuity. */
  function recordFrames(name: string, received: string[], dropped?: number): StagePlan {
    return stage(name, ({ n, discontinuity }) => {
      received.push(`${name} ${n}${discontinuity ? ' after a discontinuity' : ''}`)
      if (n === dropped) throw new FrameDroppedError(n)
      return { events: [{ type: name }] }
    })
  }

  it('passes its discontinuity on to the next frame of the elements that it has not reached', async () => {
    const received: string[] = []
    const chain = await openChain(
      recordFrames('motion', received),
      recordFrames('infer', received, 2),
      recordFrames('track', received, 3),
    )
    const frames = [stamp(1), { ...stamp(2), discontinuity: true }, stamp(3), stamp(4), stamp(5)]
    for (const frame of frames) await chain.process(frame)
    expect(received).toEqual([
      ...['motion 1', 'infer 1', 'track 1'],
      ...['motion 2 after a discontinuity', 'infer 2 after a discontinuity'],
      ...['motion 3', 'infer 3 after a discontinuity', 'track 3 after a discontinuity'],
      ...['motion 4', 'infer 4', 'track 4 after a discontinuity'],
      ...['motion 5', 'infer 5', 'track 5'],
    ])
  })

  it('leaves the events of the elements before and of another engine', async () => {
    const chain = await openChain(recordFrames('motion', []), recordFrames('infer', [], 1))
    const upstream = { objects: [], events: [{ type: 'upstream' }] }
    expect(await chain.process(stamp(1), upstream)).toEqual({
      cause: 'overwritten',
      events: [{ type: 'upstream' }, { type: 'motion' }],
    })
  })
})

describe('failing element', () => {
  it('is reopened alone and reported as failed until it works', async () => {
    let opened = 0
    let counted = 0
    await openChain(
      stage('count', () => ({ counters: { frames: { total: ++counted } } })),
      {
        name: 'fragile',
        isStateless: false,
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
    expect(await chain.process(stamp(1))).toMatchObject({ cause: 'failed' })
    expect(chain.failure).toBe('fragile: boom')
    await vi.waitUntil(() => chain.isReady)
    expect(opened).toBe(2)
    expect(await chain.process(stamp(2))).toMatchObject({ counters: { frames: { total: 2 } } })
    expect(chain.failure).toBeUndefined()
  })

  it('is followed by a discontinuity, because a tracker that is reopened assigns its ids anew', async () => {
    const received: string[] = []
    function recordDiscontinuity(name: string): StagePlan {
      return stage(name, ({ n, discontinuity }) => {
        if (discontinuity) received.push(`${name} ${n}`)
        return {}
      })
    }
    const track = stage('track', ({ n }) => {
      if (n === 2) throw new Error('boom')
      return {}
    })
    await openChain(recordDiscontinuity('motion'), track, recordDiscontinuity('count'))
    await chain.process(stamp(1))
    await chain.process(stamp(2))
    await vi.waitUntil(() => chain.isReady)
    await chain.process(stamp(3))
    await chain.process(stamp(4))
    expect(received).toEqual(['count 3'])
  })

  it('is retried until it opens', async () => {
    let attempts = 0
    await openChain({
      name: 'late',
      isStateless: false,
      open: async () => {
        if (++attempts < 4) throw new Error('no model yet')
        return { process: () => ({}) }
      },
    })
    expect(chain.failure).toBe('late: no model yet')
    await vi.waitUntil(() => chain.isReady)
    expect(attempts).toBe(4)
  })

  it('is not reopened after the channel is closed', async () => {
    let attempts = 0
    await openChain({
      name: 'late',
      isStateless: false,
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

  it('fails on an invalid view without requesting it', async () => {
    await openChain(stage('wild', () => ({}), { view: { format: 'XYZ' } as unknown as ViewSpec }))
    expect(chain.failure).toMatch(/^wild: \/view\/format/)
    expect(chain.views).toEqual([])
  })
})
