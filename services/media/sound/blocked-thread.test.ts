// @module-tag long

import { describe, expect, it, vi } from 'vitest'
import { blockThread } from '../../../test/fixtures/processes/block-thread.ts'
import { playSource } from '../ingest/play-source.fixture.ts'
import type { Source } from '../sources/source.ts'
import { addSound } from '../stream/stream-with-sound.ts'
import { makeClip } from './sound-clip.fixture.ts'
import type { SoundUnit } from './sound-track.ts'

vi.setConfig({ testTimeout: 120_000 })
const PATIENCE = { timeout: 60_000, interval: 20 }
const PICTURES = 250
const MILLISECOND = 90
const END = 10_000 * MILLISECOND

/** Longer than the queues of sound and pictures can hold. */
const BLOCK_MS = 4_000

function listen(source: Source) {
  const aac: SoundUnit[] = []
  const opus: SoundUnit[] = []
  const leave = [
    source.sound!.listenToAac({ begin() {}, unit: unit => aac.push(unit) }),
    source.sound!.listenToOpus({ begin() {}, unit: unit => opus.push(unit) }),
  ]
  const leaveAll = () => {
    for (const each of leave) each()
  }
  return {
    aac,
    opus,
    leave: leaveAll,
    begun: () => vi.waitUntil(() => aac[20] && opus[20], PATIENCE),
  }
}

const waitUntilEnded = (source: Source) =>
  vi.waitUntil(() => source.status().state === 'ended', PATIENCE)

/** Gaps between consecutive units. The first and the last unit may have a wrong duration. */
function findGaps(units: SoundUnit[]): number[] {
  const whole = units.slice(1, -1)
  return whole.slice(1).map(({ pts }, i) => pts - whole[i]!.pts - whole[i]!.duration)
}

describe('sound of a file while media is blocked', () => {
  it.each([
    ['aac', 'h264'],
    ['mulaw', 'h264'],
    ['opus', 'jpeg'],
  ] as const)('is complete in %s with %s pictures', async (coding, picture) => {
    const source = await playSource({ type: 'file', url: makeClip({ picture, sound: coding }) })
    const { begun, ...heard } = listen(source)
    await begun()
    blockThread(BLOCK_MS)
    await waitUntilEnded(source)
    expect(source.stats().packets).toBe(PICTURES)
    for (const units of [heard.aac, heard.opus]) {
      // The container rounds to milliseconds.
      expect(Math.max(...findGaps(units).map(Math.abs))).toBeLessThan(2 * MILLISECOND)
      expect(units.at(-1)!.pts).toBeGreaterThan(END - 100 * MILLISECOND)
    }
  })

  it('reaches viewers without inserted silence', async () => {
    const source = await playSource({ type: 'file', url: makeClip({ sound: 'aac' }) })
    const { aac, begun } = listen(source)
    const pictures = new Set<object>()
    const viewed: Pick<SoundUnit, 'data'>[] = []
    const viewer = { begin() {}, backlog: () => 0, end() {} }
    source.stream.watch({ ...viewer, fragment: (_, unit) => pictures.add(unit) })
    const stream = await addSound(source.stream, source.sound!)
    stream.watch({ ...viewer, fragment: (_, unit) => viewed.push(unit) })
    await begun()
    blockThread(BLOCK_MS)
    await waitUntilEnded(source)
    const sounds = viewed.filter(unit => !pictures.has(unit))
    expect(sounds.length).toBeGreaterThan(300)
    const heard = aac.slice(-sounds.length)
    expect(sounds.filter(({ data }, i) => data !== heard[i]?.data)).toEqual([])
  })

  it('does not delay pictures once it has no listeners', async () => {
    const source = await playSource({ type: 'file', url: makeClip({ sound: 'mulaw' }) })
    const { begun, leave } = listen(source)
    await begun()
    blockThread(BLOCK_MS)
    leave()
    await waitUntilEnded(source)
    expect(source.stats().packets).toBe(PICTURES)
  })
})
