import { FrameDroppedError } from '@eyrie/element/inference'
import { afterEach, expect, it, vi } from 'vitest'
import type { FrameStamp } from '../frames/ring-reader.ts'
import { ElementChain } from './element-chain.ts'
import type { StagePlan, StateReplacement } from './stage-plan.ts'

const stamp = (n: number): FrameStamp => ({
  n,
  pts: n * 3600,
  time: n * 40_000,
  discontinuity: false,
  width: 16,
  height: 9,
})

const replacements: StateReplacement[] = []
const chains: ElementChain[] = []
afterEach(() => {
  for (const chain of chains.splice(0)) chain.close()
  replacements.length = 0
})

interface CounterOptions {
  version?: string
  /** Frames that wait until they are released. */
  held?: Promise<void>
  /** Number of frames after which the code throws. */
  failsAfter?: number
  /** Number of the frame whose picture is no longer available. */
  dropped?: number
  /** Whether the code fails to open. */
  failsToOpen?: boolean
}

/** An element that remembers the frames that it has processed. */
function planCounter({
  version,
  held,
  failsAfter = Number.POSITIVE_INFINITY,
  dropped,
  failsToOpen = false,
}: CounterOptions): StagePlan {
  return {
    name: 'counter',
    isStateless: false,
    development:
      version === undefined
        ? undefined
        : { version, onStateReplaced: each => replacements.push(each) },
    async open() {
      if (failsToOpen) throw new Error('broken')
      let frames: number[] = []
      return {
        async process({ n, discontinuity }) {
          await held
          if (n === dropped) throw new FrameDroppedError(n)
          if (discontinuity) frames = []
          if (frames.length >= failsAfter) throw new Error('broken')
          frames.push(n)
          return { events: [{ type: 'seen', frames: frames.join(' ') }] }
        },
        remoteState: {
          save: async () => ({ state: JSON.stringify(frames) }),
          async restore(state) {
            frames = JSON.parse(state)
            return undefined
          },
        },
      }
    },
  }
}

async function openCounter(options: CounterOptions): Promise<ElementChain> {
  const chain = new ElementChain([planCounter(options)], {
    findRing: () => undefined,
    backoff: { initialMs: 60_000, maxMs: 60_000 },
    random: () => 1,
    onChange: () => {},
  })
  chains.push(chain)
  await chain.initialized
  return chain
}

const seen = (frames: string) => expect.objectContaining({ events: [{ type: 'seen', frames }] })

it('new code continues after the last frame of the code that it replaces, and before its own first frame', async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const old = await openCounter({ version: 'probe 1.0.0-dev', held })
  const next = await openCounter({ version: 'probe 1.0.0-dev' })
  const frames = [old.process(stamp(1)), old.process(stamp(2))]
  void next.succeed(old)
  frames.push(next.process(stamp(3)))
  release()
  expect(await Promise.all(frames)).toEqual([seen('1'), seen('1 2'), seen('1 2 3')])
  expect(replacements).toEqual([{ problem: undefined, isOutdated: false }])
  await vi.waitUntil(() => !old.isReady)
})

it.each([
  ['of another version', 'probe 1.0.0-dev', 'probe 1.1.0-dev'],
  ['that is not under development', undefined, undefined],
])('code %s begins with its initial state', async (_, before, after) => {
  const old = await openCounter({ ...(before && { version: before }) })
  await old.process(stamp(1))
  const next = await openCounter({ ...(after && { version: after }) })
  await next.succeed(old)
  expect(await next.process(stamp(2))).toEqual(seen('2'))
  expect(replacements).toEqual([])
})

it('code that replaces failing code continues with the state with which the failing code has begun', async () => {
  const version = 'probe 1.0.0-dev'
  const working = await openCounter({ version })
  await working.process(stamp(1))
  const failing = await openCounter({ version, failsAfter: 1 })
  await failing.succeed(working)
  expect(await failing.process(stamp(2))).toMatchObject({ cause: 'failed' })
  const repaired = await openCounter({ version })
  await repaired.succeed(failing)
  expect(await repaired.process(stamp(3))).toEqual(seen('1 3'))
  expect(replacements).toEqual([
    { problem: undefined, isOutdated: false },
    { problem: undefined, isOutdated: true },
  ])
})

it('code that fails to open leaves the state to the code that replaces it, and reports nothing kept', async () => {
  const version = 'probe 1.0.0-dev'
  const working = await openCounter({ version })
  await working.process(stamp(1))
  const broken = await openCounter({ version, failsToOpen: true })
  await broken.succeed(working)
  expect(replacements).toEqual([])
  const repaired = await openCounter({ version })
  await repaired.succeed(broken)
  expect(await repaired.process(stamp(2))).toEqual(seen('1 2'))
  expect(replacements).toEqual([{ problem: undefined, isOutdated: true }])
})

it.each([
  ['its picture was no longer available', { dropped: 2 }],
  ['the code failed in the meantime', { failsAfter: 0 }],
])(
  'new code discards the state of frames before a discontinuity that the replaced code missed because %s',
  async (_, options) => {
    const version = 'probe 1.0.0-dev'
    const first = await openCounter({ version })
    await first.process(stamp(1))
    const second = await openCounter({ version, ...options })
    await second.succeed(first)
    await second.process({ ...stamp(2), discontinuity: true })
    const third = await openCounter({ version })
    await third.succeed(second)
    expect(await third.process(stamp(3))).toEqual(seen('3'))
    expect(await third.process(stamp(4))).toEqual(seen('3 4'))
  },
)

it('code that replaces code which has failed from the beginning reports that there is no state', async () => {
  const version = 'probe 1.0.0-dev'
  const failing = await openCounter({ version, failsAfter: 0 })
  await failing.process(stamp(1))
  const repaired = await openCounter({ version })
  await repaired.succeed(failing)
  expect(await repaired.process(stamp(2))).toEqual(seen('2'))
  expect(replacements).toEqual([{ problem: 'the replaced code has failed', isOutdated: true }])
})
