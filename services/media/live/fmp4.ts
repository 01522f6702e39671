import { box, fullBox, i32, u16, u32, u64 } from '@eyrie/kit/boxes'
import { displaySize, type Picture } from '../picture.ts'

/** What a decoder must know of an H.264 stream before its first picture. */
export interface VideoTrack extends Pick<Picture, 'width' | 'height' | 'pixelAspect'> {
  /** AVCDecoderConfigurationRecord, with the parameter sets. */
  avcC: Uint8Array
}

/** One coded picture in decoding order. Times in 90 kHz ticks of stream time. */
export interface AccessUnit {
  pts: number
  dts: number
  duration: number
  keyframe: boolean
  /** NAL units, each behind its length, as the track's avcC says. */
  data: Uint8Array
}

export const TIMESCALE = 90_000
const TRACK = 1
const UNITY_MATRIX = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
const RESOLUTION_72_DPI = 0x480000
const SELF_CONTAINED = 1
const TFHD_BASE_IS_MOOF = 0x20000
const TRUN_ALL_FIELDS = 0xf01
const SYNC_SAMPLE = 0x2000000
const NON_SYNC_SAMPLE = 0x1010000

/** The codec as Media Source Extensions name it (RFC 6381): `avc1.64001f`. */
export function codecString(avcC: Uint8Array): string {
  return `avc1.${Buffer.from(avcC.subarray(1, 4)).toString('hex')}`
}

/** ftyp and moov of a fragmented file with one video track. */
export function initSegment(track: VideoTrack): Buffer {
  const trex = fullBox('trex', 0, 0, u32(TRACK, 1, 0, 0, 0))
  return Buffer.concat([
    box('ftyp', Buffer.from('iso5'), u32(512), Buffer.from('iso5iso6mp41')),
    box('moov', movieHeader(), trackBox(track), box('mvex', trex)),
  ])
}

/**
 * moof and mdat of one access unit, so that nothing has to wait for the next. The composition offset is signed
 * (version 1 of trun).
 */
export function fragment(sequence: number, unit: AccessUnit): Buffer {
  const moofBytes = movieFragment(sequence, unit, 0).length
  const mdat = [u32(unit.data.length + 8), Buffer.from('mdat'), unit.data]
  return Buffer.concat([movieFragment(sequence, unit, moofBytes + 8), ...mdat])
}

function movieFragment(sequence: number, unit: AccessUnit, dataOffset: number): Buffer {
  const sampleFlags = unit.keyframe ? SYNC_SAMPLE : NON_SYNC_SAMPLE
  const run = [u32(1, dataOffset, unit.duration, unit.data.length, sampleFlags), i32(unit.pts - unit.dts)]
  return box(
    'moof',
    fullBox('mfhd', 0, 0, u32(sequence)),
    box(
      'traf',
      fullBox('tfhd', 0, TFHD_BASE_IS_MOOF, u32(TRACK)),
      fullBox('tfdt', 1, 0, u64(unit.dts)),
      fullBox('trun', 1, TRUN_ALL_FIELDS, ...run),
    ),
  )
}

function movieHeader(): Buffer {
  const rateAndVolume = [u32(0x10000), u16(0x100, 0), u32(0, 0)]
  const nextTrack = u32(TRACK + 1)
  return fullBox(
    'mvhd',
    0,
    0,
    u32(0, 0, TIMESCALE, 0),
    ...rateAndVolume,
    UNITY_MATRIX,
    u32(0, 0, 0, 0, 0, 0),
    nextTrack,
  )
}

function trackBox(track: VideoTrack): Buffer {
  const enabledInMovie = 3
  const shown = displaySize(track)
  const size = u32(shown.width * 0x10000, shown.height * 0x10000)
  const undetermined = 0x55c4
  return box(
    'trak',
    fullBox('tkhd', 0, enabledInMovie, u32(0, 0, TRACK, 0, 0, 0, 0), u32(0, 0), UNITY_MATRIX, size),
    box(
      'mdia',
      fullBox('mdhd', 0, 0, u32(0, 0, TIMESCALE, 0), u16(undetermined, 0)),
      fullBox('hdlr', 0, 0, u32(0), Buffer.from('vide'), u32(0, 0, 0), Buffer.from('video\0')),
      box(
        'minf',
        fullBox('vmhd', 0, 1, u16(0, 0, 0, 0)),
        box('dinf', fullBox('dref', 0, 0, u32(1), fullBox('url ', 0, SELF_CONTAINED))),
        sampleTable(track),
      ),
    ),
  )
}

/** Describes the samples; where they lie is left to the fragments. */
function sampleTable(track: VideoTrack): Buffer {
  const { numerator, denominator } = track.pixelAspect
  const reserved = u16(0, 0, 0, 0, 0, 0, 0, 0)
  const entry = box(
    'avc1',
    u16(0, 0, 0, 1),
    reserved,
    u16(track.width, track.height),
    u32(RESOLUTION_72_DPI, RESOLUTION_72_DPI, 0),
    u16(1),
    Buffer.alloc(32),
    u16(24, 0xffff),
    box('avcC', track.avcC),
    box('pasp', u32(numerator, denominator)),
  )
  return box(
    'stbl',
    fullBox('stsd', 0, 0, u32(1), entry),
    fullBox('stts', 0, 0, u32(0)),
    fullBox('stsc', 0, 0, u32(0)),
    fullBox('stsz', 0, 0, u32(0, 0)),
    fullBox('stco', 0, 0, u32(0)),
  )
}
