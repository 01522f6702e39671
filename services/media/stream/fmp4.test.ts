import { describe, expect, it } from 'vitest'
import { createInitSegment, createVideoFragment } from './fmp4.ts'
import { toAvcCodecString } from './sample-entry.ts'

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

/** Parses consecutive boxes. Throws unless their sizes add up. */
function parseBoxes(bytes: Uint8Array): Box[] {
  const buffer = Buffer.from(bytes)
  const boxes: Box[] = []
  for (let offset = 0; offset < buffer.length; offset += buffer.readUInt32BE(offset)) {
    const size = buffer.readUInt32BE(offset)
    if (size < 8 || offset + size > buffer.length) {
      throw new Error(`the box at ${offset} has an invalid size: ${size}`)
    }
    const type = buffer.toString('latin1', offset + 4, offset + 8)
    boxes.push({ type, body: buffer.subarray(offset + 8, offset + size) })
  }
  return boxes
}

/** Returns the body of the box at a path of types. */
function findBody(bytes: Uint8Array, ...path: string[]): Buffer {
  const [type, ...rest] = path
  const box = parseBoxes(bytes).find(box => box.type === type)
  if (!box) throw new Error(`the file has no ${type} box`)
  return rest.length > 0 ? findBody(box.body, ...rest) : box.body
}

describe('init segment', () => {
  const init = createInitSegment(track)

  it('consists of ftyp and moov with complete children', () => {
    expect(parseBoxes(init).map(({ type }) => type)).toEqual(['ftyp', 'moov'])
    expect(parseBoxes(findBody(init, 'moov')).map(({ type }) => type)).toEqual([
      'mvhd',
      'trak',
      'mvex',
    ])
    expect(
      parseBoxes(findBody(init, 'moov', 'trak', 'mdia', 'minf', 'stbl')).map(({ type }) => type),
    ).toEqual(['stsd', 'stts', 'stsc', 'stsz', 'stco'])
  })

  it('has a timescale of 90 kHz', () => {
    expect(findBody(init, 'moov', 'trak', 'mdia', 'mdhd').readUInt32BE(12)).toBe(90_000)
  })

  it('has the coded and the display size', () => {
    const tkhd = findBody(init, 'moov', 'trak', 'tkhd')
    expect([tkhd.readUInt32BE(76) / 65536, tkhd.readUInt32BE(80) / 65536]).toEqual([768, 576])
    const avc1 = findBody(
      findBody(init, 'moov', 'trak', 'mdia', 'minf', 'stbl', 'stsd').subarray(8),
      'avc1',
    )
    expect([avc1.readUInt16BE(24), avc1.readUInt16BE(26)]).toEqual([704, 576])
    expect(findBody(avc1.subarray(78), 'avcC')).toEqual(Buffer.from(track.avcC))
  })

  it('limits a display width that exceeds the field in the track header', () => {
    const wide = { ...track, width: 1280, pixelAspect: { numerator: 100, denominator: 1 } }
    const tkhd = findBody(createInitSegment(wide), 'moov', 'trak', 'tkhd')
    expect([tkhd.readUInt32BE(76) / 65536, tkhd.readUInt32BE(80) / 65536]).toEqual([65_535, 576])
  })

  it.each([
    [65_535, 65_535],
    [65_536, 0],
    [96_000, 0],
  ])('declares sound of %i Hz with the rate %i', (rate, declared) => {
    const sound = { rate, channels: 2, configuration: Buffer.of(0x10, 0x10) }
    const bytes = createInitSegment(track, sound)
    const mp4a = bytes.subarray(bytes.indexOf('mp4a') + 4)
    expect(mp4a.readUInt32BE(24) / 65536).toBe(declared)
  })

  it('has a codec string with profile, constraints and level', () => {
    expect(toAvcCodecString(track.avcC)).toBe('avc1.64001f')
  })
})

describe('fragment', () => {
  const beyond32Bits = 2 ** 33 + 3000
  const unit = {
    pts: beyond32Bits + 6000,
    dts: beyond32Bits,
    duration: 3000,
    keyframe: true,
    data: Buffer.from('unit'),
  }

  it('has the exact decode time, composition offset, duration and size', () => {
    const bytes = createVideoFragment(7, unit)
    expect(findBody(bytes, 'moof', 'mfhd').readUInt32BE(4)).toBe(7)
    expect(Number(findBody(bytes, 'moof', 'traf', 'tfdt').readBigUInt64BE(4))).toBe(unit.dts)
    const trun = findBody(bytes, 'moof', 'traf', 'trun')
    expect(trun.readUInt32BE(12)).toBe(3000)
    expect(trun.readUInt32BE(16)).toBe(4)
    expect(trun.readInt32BE(24)).toBe(6000)
  })

  it('has a data offset that points into the mdat', () => {
    const bytes = createVideoFragment(1, unit)
    const offset = findBody(bytes, 'moof', 'traf', 'trun').readInt32BE(8)
    expect(bytes.subarray(offset).toString()).toBe('unit')
    expect(parseBoxes(bytes).map(({ type }) => type)).toEqual(['moof', 'mdat'])
  })

  it('allows a negative composition offset', () => {
    const bytes = createVideoFragment(1, { ...unit, pts: unit.dts - 3000 })
    expect(findBody(bytes, 'moof', 'traf', 'trun').readInt32BE(24)).toBe(-3000)
  })

  it('flags non-keyframes as non-sync samples', () => {
    const flags = (keyframe: boolean) =>
      findBody(createVideoFragment(1, { ...unit, keyframe }), 'moof', 'traf', 'trun').readUInt32BE(
        20,
      )
    const isNonSync = 0x10000
    expect([flags(true) & isNonSync, flags(false) & isNonSync]).toEqual([0, isNonSync])
  })
})
