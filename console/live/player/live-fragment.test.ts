import { describe, expect, it } from 'vitest'
import { extendDuration, parseFragment } from './live-fragment.ts'

type Part = number[]

const u32 = (value: number): Part => [24, 16, 8, 0].map(shift => (value >>> shift) & 0xff)
const u64 = (value: number): Part => [...u32(Math.floor(value / 2 ** 32)), ...u32(value % 2 ** 32)]
const box = (type: string, ...parts: Part[]): Part => {
  const payload = parts.flat()
  return [...u32(payload.length + 8), ...[...type].map(letter => letter.charCodeAt(0)), ...payload]
}
const bytes = (...boxes: Part[]) => new Uint8Array(boxes.flat()).buffer

const KEYFRAME = 0x2000000
const NON_KEYFRAME = 0x1010000

interface Sample {
  dts: number
  offset: number
  flags: number
}

function fragment({ dts, offset, flags }: Sample): ArrayBuffer {
  const tfdt = box('tfdt', u32(0x1000000), u64(dts))
  const trun = box(
    'trun',
    u32(0x1000f01),
    u32(1),
    u32(108),
    u32(3_600),
    u32(4),
    u32(flags),
    u32(offset),
  )
  const tfhd = box('tfhd', u32(0x20000), u32(1))
  return bytes(
    box('moof', box('mfhd', u32(0), u32(7)), box('traf', tfhd, tfdt, trun)),
    box('mdat', u32(0)),
  )
}

describe('live fragment', () => {
  it('is parsed with decoding time, presentation time and duration', () => {
    const sample = { dts: 90_000 * 3_600 * 24 * 365, offset: 7_200, flags: NON_KEYFRAME }
    expect(parseFragment(fragment(sample))).toEqual({
      track: 1,
      dts: sample.dts,
      pts: sample.dts + 7_200,
      duration: 3_600,
      isKeyframe: false,
    })
  })

  it('accepts the negative composition offsets of trun version 1', () => {
    expect(parseFragment(fragment({ dts: 9_000, offset: -3_000, flags: NON_KEYFRAME }))?.pts).toBe(
      6_000,
    )
  })

  it('marks keyframes', () => {
    expect(parseFragment(fragment({ dts: 0, offset: 0, flags: KEYFRAME }))?.isKeyframe).toBe(true)
  })

  it('changes nothing but the duration when it is extended', () => {
    const sample = { dts: 9_000, offset: 3_000, flags: KEYFRAME }
    const segment = fragment(sample)
    const before = new Uint8Array(segment.slice())
    extendDuration(segment, 1)
    expect(parseFragment(segment)).toEqual({ ...parseFragment(fragment(sample)), duration: 90_000 })
    const changed = new Uint8Array(segment).filter((byte, at) => byte !== before[at])
    expect(changed.length).toBeLessThanOrEqual(4)
    extendDuration(segment, 0.5)
    expect(parseFragment(segment)?.duration).toBe(90_000)
  })

  it('is undefined for an initialization segment', () => {
    expect(
      parseFragment(bytes(box('ftyp', u32(0)), box('moov', box('mvhd', u32(0))))),
    ).toBeUndefined()
  })

  it('is undefined for truncated data and for data that is not MP4', () => {
    const whole = fragment({ dts: 0, offset: 0, flags: KEYFRAME })
    expect(parseFragment(whole.slice(0, 40))).toBeUndefined()
    expect(
      parseFragment(new TextEncoder().encode('not a video, but long enough').buffer),
    ).toBeUndefined()
    expect(parseFragment(new ArrayBuffer(0))).toBeUndefined()
  })
})
