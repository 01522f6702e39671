import { describe, expect, test } from 'vitest'
import { fragment, initSegment } from './fmp4.ts'
import { codecString } from './sample-entry.ts'

const track = {
  width: 704,
  height: 576,
  pixelAspect: { numerator: 12, denominator: 11 },
  avcC: Uint8Array.of(1, 0x64, 0x00, 0x1f, 0xff, 0xe1, 0, 0, 0),
}

interface Box {
  type: string
  body: Buffer
}

/** The boxes that lie one after the other in `bytes`; throws unless their sizes add up. */
function boxesIn(bytes: Uint8Array): Box[] {
  const buffer = Buffer.from(bytes)
  const boxes: Box[] = []
  for (let at = 0; at < buffer.length; at += buffer.readUInt32BE(at)) {
    const size = buffer.readUInt32BE(at)
    if (size < 8 || at + size > buffer.length) throw new Error(`a box at ${at} claims ${size} bytes`)
    boxes.push({ type: buffer.toString('latin1', at + 4, at + 8), body: buffer.subarray(at + 8, at + size) })
  }
  return boxes
}

/** The body of the box that a path of types leads to. */
function inside(bytes: Uint8Array, ...path: string[]): Buffer {
  const [type, ...rest] = path
  const box = boxesIn(bytes).find(each => each.type === type)
  if (!box) throw new Error(`there is no ${type}`)
  return rest.length > 0 ? inside(box.body, ...rest) : box.body
}

describe('an init segment', () => {
  const init = initSegment(track)

  test('is ftyp and moov, in which nothing is left over', () => {
    expect(boxesIn(init).map(({ type }) => type)).toEqual(['ftyp', 'moov'])
    expect(boxesIn(inside(init, 'moov')).map(({ type }) => type)).toEqual(['mvhd', 'trak', 'mvex'])
    expect(boxesIn(inside(init, 'moov', 'trak', 'mdia', 'minf', 'stbl')).map(({ type }) => type)).toEqual([
      'stsd',
      'stts',
      'stsc',
      'stsz',
      'stco',
    ])
  })

  test('counts in 90 kHz', () => {
    expect(inside(init, 'moov', 'trak', 'mdia', 'mdhd').readUInt32BE(12)).toBe(90_000)
  })

  test('tells the size as coded and as shown', () => {
    const tkhd = inside(init, 'moov', 'trak', 'tkhd')
    expect([tkhd.readUInt32BE(76) / 65536, tkhd.readUInt32BE(80) / 65536]).toEqual([768, 576])
    const avc1 = inside(inside(init, 'moov', 'trak', 'mdia', 'minf', 'stbl', 'stsd').subarray(8), 'avc1')
    expect([avc1.readUInt16BE(24), avc1.readUInt16BE(26)]).toEqual([704, 576])
    expect(inside(avc1.subarray(78), 'avcC')).toEqual(Buffer.from(track.avcC))
  })

  test('has a codec string of profile, constraints and level', () => {
    expect(codecString(track.avcC)).toBe('avc1.64001f')
  })
})

describe('a fragment', () => {
  const beyond32Bits = 2 ** 33 + 3000
  const unit = {
    pts: beyond32Bits + 6000,
    dts: beyond32Bits,
    duration: 3000,
    keyframe: true,
    data: Buffer.from('unit'),
  }

  test('carries decoding time, composition offset, duration and size exactly', () => {
    const bytes = fragment(7, unit)
    expect(inside(bytes, 'moof', 'mfhd').readUInt32BE(4)).toBe(7)
    expect(Number(inside(bytes, 'moof', 'traf', 'tfdt').readBigUInt64BE(4))).toBe(unit.dts)
    const trun = inside(bytes, 'moof', 'traf', 'trun')
    expect(trun.readUInt32BE(12)).toBe(3000)
    expect(trun.readUInt32BE(16)).toBe(4)
    expect(trun.readInt32BE(24)).toBe(6000)
  })

  test('points to the data behind it', () => {
    const bytes = fragment(1, unit)
    const offset = inside(bytes, 'moof', 'traf', 'trun').readInt32BE(8)
    expect(bytes.subarray(offset).toString()).toBe('unit')
    expect(boxesIn(bytes).map(({ type }) => type)).toEqual(['moof', 'mdat'])
  })

  test('may be shown before it would be decoded', () => {
    const bytes = fragment(1, { ...unit, pts: unit.dts - 3000 })
    expect(inside(bytes, 'moof', 'traf', 'trun').readInt32BE(24)).toBe(-3000)
  })

  test('says whether it can be decoded on its own', () => {
    const flags = (keyframe: boolean) =>
      inside(fragment(1, { ...unit, keyframe }), 'moof', 'traf', 'trun').readUInt32BE(20)
    const isNonSync = 0x10000
    expect([flags(true) & isNonSync, flags(false) & isNonSync]).toEqual([0, isNonSync])
  })
})
