import { box, u16, u32 } from '@eyrie/kit/mp4-boxes'
import type { Picture } from '../gstreamer/picture.ts'

type Shape = Pick<Picture, 'width' | 'height' | 'pixelAspect'>

/** What a decoder must know of an H.264 stream before its first picture. */
export interface VideoTrack extends Shape {
  /** AVCDecoderConfigurationRecord, with the parameter sets. */
  avcC: Uint8Array
}

/** The same of an H.265 stream. */
export interface HevcTrack extends Shape {
  /** HEVCDecoderConfigurationRecord, with the parameter sets. */
  hvcC: Uint8Array
}

/** Video that is in fragmented MP4 as it came. */
export type PlayableTrack = VideoTrack | HevcTrack

const RESOLUTION_72_DPI = 0x480000
const PROFILE_SPACES = ['', 'A', 'B', 'C']

export const isPlayable = (track: object): track is PlayableTrack => 'avcC' in track || 'hvcC' in track

/** The codec as Media Source Extensions name it (RFC 6381): `avc1.64001f`. */
export function codecString(avcC: Uint8Array): string {
  return `avc1.${Buffer.from(avcC.subarray(1, 4)).toString('hex')}`
}

/** As `codecString`, of H.265 (ISO/IEC 14496-15, Annex E.3): `hvc1.1.6.L93.B0`. */
function hevcCodecString(hvcC: Uint8Array): string {
  const view = new DataView(hvcC.buffer, hvcC.byteOffset, hvcC.byteLength)
  const [profile, compatibility, level] = [view.getUint8(1), view.getUint32(2), view.getUint8(12)]
  const space = PROFILE_SPACES[profile >> 6]!
  const tier = profile & 0x20 ? 'H' : 'L'
  const constraints = Array.from(hvcC.subarray(6, 12), byte => byte.toString(16).toUpperCase())
  while (constraints.at(-1) === '0') constraints.pop()
  const compatible = reversedBits(compatibility).toString(16).toUpperCase()
  return ['hvc1', `${space}${profile & 0x1f}`, compatible, `${tier}${level}`, ...constraints].join('.')
}

export const codecOf = (track: PlayableTrack): string =>
  'avcC' in track ? codecString(track.avcC) : hevcCodecString(track.hvcC)

/** The entry in `stsd` that describes such a track. */
export function videoSampleEntry(track: PlayableTrack): Buffer {
  const { numerator, denominator } = track.pixelAspect
  const reserved = u16(0, 0, 0, 0, 0, 0, 0, 0)
  return box(
    'avcC' in track ? 'avc1' : 'hvc1',
    u16(0, 0, 0, 1),
    reserved,
    u16(track.width, track.height),
    u32(RESOLUTION_72_DPI, RESOLUTION_72_DPI, 0),
    u16(1),
    Buffer.alloc(32),
    u16(24, 0xffff),
    'avcC' in track ? box('avcC', track.avcC) : box('hvcC', track.hvcC),
    box('pasp', u32(numerator, denominator)),
  )
}

/** The last of 32 bits first. */
function reversedBits(value: number): number {
  let reversed = 0
  for (let bit = 0; bit < 32; bit++) reversed = reversed * 2 + ((value >>> bit) & 1)
  return reversed
}
