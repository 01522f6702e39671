import { describe, expect, test, vi } from 'vitest'
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

/** Media runs in this thread. Meanwhile more is due, of sound and of pictures, than may wait for it. */
const standStill = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4_000)

function hear(source: Source) {
  const [aac, opus]: [SoundUnit[], SoundUnit[]] = [[], []]
  const leave = [
    source.sound!.listenToAac({ begin() {}, unit: unit => aac.push(unit) }),
    source.sound!.listenToOpus({ begin() {}, unit: unit => opus.push(unit) }),
  ]
  const leaveAll = () => {
    for (const each of leave) each()
  }
  return { aac, opus, leave: leaveAll, begun: () => vi.waitUntil(() => aac[20] && opus[20], PATIENCE) }
}

const ended = (source: Source) => vi.waitUntil(() => source.status().state === 'ended', PATIENCE)

/** From the end of each to the beginning of the next. The first and the last may be shorter than they are played. */
function gapsOf(units: SoundUnit[]): number[] {
  const whole = units.slice(1, -1)
  return whole.slice(1).map(({ pts }, i) => pts - whole[i]!.pts - whole[i]!.duration)
}

describe('where media has no time for it for a while, the sound of a file', () => {
  test.each([
    ['aac', 'h264'],
    ['mulaw', 'h264'],
    ['opus', 'jpeg'],
  ] as const)('in %s beside %s loses nothing', async (coding, picture) => {
    const source = await playSource({ type: 'file', url: makeClip({ picture, sound: coding }) })
    const { begun, ...heard } = hear(source)
    await begun()
    standStill()
    await ended(source)
    expect(source.stats().packets).toBe(PICTURES)
    for (const units of [heard.aac, heard.opus]) {
      // The container rounds to milliseconds.
      expect(Math.max(...gapsOf(units).map(Math.abs))).toBeLessThan(2 * MILLISECOND)
      expect(units.at(-1)!.pts).toBeGreaterThan(END - 100 * MILLISECOND)
    }
  })

  test('is heard by viewers as it is, without silence between', async () => {
    const source = await playSource({ type: 'file', url: makeClip({ sound: 'aac' }) })
    const { aac, begun } = hear(source)
    const pictures = new Set<object>()
    const viewed: Pick<SoundUnit, 'data'>[] = []
    const viewer = { begin() {}, backlog: () => 0, end() {} }
    source.stream.watch({ ...viewer, fragment: (_, unit) => pictures.add(unit) })
    const stream = await addSound(source.stream, source.sound!)
    stream.watch({ ...viewer, fragment: (_, unit) => viewed.push(unit) })
    await begun()
    standStill()
    await ended(source)
    const sounds = viewed.filter(unit => !pictures.has(unit))
    expect(sounds.length).toBeGreaterThan(300)
    const heard = aac.slice(-sounds.length)
    expect(sounds.filter(({ data }, i) => data !== heard[i]?.data)).toEqual([])
  })

  test('does not hold up the picture when nobody hears it any more', async () => {
    const source = await playSource({ type: 'file', url: makeClip({ sound: 'mulaw' }) })
    const { begun, leave } = hear(source)
    await begun()
    standStill()
    leave()
    await ended(source)
    expect(source.stats().packets).toBe(PICTURES)
  })
})
