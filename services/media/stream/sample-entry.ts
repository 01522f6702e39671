import { box, u16, u32 } from '@eyrie/kit/mp4-boxes'
import type { Picture } from '../gstreamer/picture.ts'

type PictureShape = Pick<Picture, 'width' | 'height' | 'pixelAspect'>

/** An H.264 track: everything that a decoder needs before the first picture. */
export interface VideoTrack extends PictureShape {
  /** AVCDecoderConfigurationRecord, with the parameter sets. */
  avcC: Uint8Array
}

/** An H.265 track. */
export interface HevcTrack extends PictureShape {
  /** HEVCDecoderConfigurationRecord, with the parameter sets. */
  hvcC: Uint8Array
}

/** A track that can be packaged as fragmented MP4 without transcoding. */
export type PlayableTrack = VideoTrack | HevcTrack

const RESOLUTION_72_DPI = 0x480000
const PROFILE_SPACES = ['', 'A', 'B', 'C']

export const isPlayable = (track: object): track is PlayableTrack => 'avcC' in track || 'hvcC' in track

/** The codec as in Media Source Extensions (RFC 6381), such as `avc1.64001f` or `hvc1.1.6.L93.B0`. */
export function toCodecString(track: PlayableTrack): string {
  return 'avcC' in track ? toAvcCodecString(track.avcC) : toHevcCodecString(track.hvcC)
}

export function toAvcCodecString(avcC: Uint8Array): string {
  return `avc1.${Buffer.from(avcC.subarray(1, 4)).toString('hex')}`
}

/** ISO/IEC 14496-15, Annex E.3. */
function toHevcCodecString(hvcC: Uint8Array): string {
  const view = new DataView(hvcC.buffer, hvcC.byteOffset, hvcC.byteLength)
  const profile = view.getUint8(1)
  const space = PROFILE_SPACES[profile >> 6]!
  const tier = profile & 0x20 ? 'H' : 'L'
  const compatibility = reverseBits(view.getUint32(2)).toString(16).toUpperCase()
  const level = view.getUint8(12)
  const constraints = Array.from(hvcC.subarray(6, 12), byte => byte.toString(16).toUpperCase())
  while (constraints.at(-1) === '0') constraints.pop()
  return ['hvc1', `${space}${profile & 0x1f}`, compatibility, `${tier}${level}`, ...constraints].join('.')
}

/** Creates the sample entry of the `stsd` box. */
export function createVideoSampleEntry(track: PlayableTrack): Buffer {
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

/** Reverses the order of 32 bits. */
function reverseBits(value: number): number {
  let reversed = 0
  for (let bit = 0; bit < 32; bit++) reversed = reversed * 2 + ((value >>> bit) & 1)
  return reversed
}
