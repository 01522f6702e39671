import { describe, expect, it } from 'vitest'
import { createInterleavedFragment } from '../../stream/fmp4.ts'
import { FPS, unit } from '../writing/segmenter.fixture.ts'
import { readSamples, relocateFragment } from './fragment-samples.ts'

const SHIFT = 9000

/** Returns a fragment with a second of pictures and one sound unit. */
function createFragment() {
  const pictures = Array.from({ length: FPS }, (_, n) => unit(n))
  const sound = { pts: 0, duration: 1920, data: Buffer.alloc(10) }
  return createInterleavedFragment(1, pictures, [sound])
}

/** Replaces the boxes of the sound by zeros, as a power failure may do. */
function damageSound(fragment: Buffer) {
  const beginOfSound = fragment.lastIndexOf('traf') - 4
  fragment.fill(0, beginOfSound, fragment.readUInt32BE(0))
}

const readMoof = (fragment: Buffer) =>
  readSamples(fragment.subarray(0, fragment.readUInt32BE(0)), 0)

describe('a relocated fragment', () => {
  it('has the new times of its pictures and sound', () => {
    const fragment = createFragment()
    const before = readMoof(fragment)
    relocateFragment(fragment, { sequence: 7, shift: SHIFT, extension: 100 })
    const { pictures, sounds } = readMoof(fragment)
    expect(pictures.map(({ dts }) => dts - SHIFT)).toEqual(before.pictures.map(({ dts }) => dts))
    expect(pictures.at(-1)!.duration).toBe(before.pictures.at(-1)!.duration + 100)
    expect(sounds.map(({ dts }) => dts)).toEqual([SHIFT])
  })

  it('still has its pictures if the index of its sound is damaged', () => {
    const fragment = createFragment()
    damageSound(fragment)
    relocateFragment(fragment, { sequence: 7, shift: SHIFT, extension: 0 })
    const { pictures, sounds } = readMoof(fragment)
    expect(pictures).toHaveLength(FPS)
    expect(pictures[0]!.dts).toBe(SHIFT)
    expect(sounds).toEqual([])
  })
})
