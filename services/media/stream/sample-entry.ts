import { box, u16, u32 } from '@eyrie/kit/mp4-boxes'
import type { Picture } from '../gstreamer/picture.ts'

type PictureShape = Pick<Picture, 'width' | 'height' | 'pixelAspect'>

/**
 * The format of H.264 video: everything that a decoder needs before the first picture, and
 * the picture's shape.
 */
export interface VideoTrack extends PictureShape {
  /** AVCDecoderConfigurationRecord, which contains the parameter sets (ISO/IEC 14496-15). */
  avcC: Uint8Array
}

/** The format of H.265 video. */
export interface HevcTrack extends PictureShape {
  /** HEVCDecoderConfigurationRecord, which contains the parameter sets (ISO/IEC 14496-15). */
  hvcC: Uint8Array
}

/** A track that can be packaged as fragmented MP4 without transcoding. */
export type PlayableTrack = VideoTrack | HevcTrack

/** 72 dpi as a 16.16 fixed-point number. */
const RESOLUTION_72_DPI = 0x480000
/** Letters for the profile space of H.265, which is almost always the first one. */
const PROFILE_SPACES = ['', 'A', 'B', 'C']

/** Whether players can decode the track without transcoding. */
export const isPlayable = (track: object): track is PlayableTrack =>
  'avcC' in track || 'hvcC' in track

/**
 * Returns the codec for Media Source Extensions (RFC 6381), such as `avc1.64001f` or
 * `hvc1.1.6.L93.B0`.
 */
export function toCodecString(track: PlayableTrack): string {
  return 'avcC' in track ? toAvcCodecString(track.avcC) : toHevcCodecString(track.hvcC)
}

/** Formats the codec from the profile, constraints and level in the record. */
export function toAvcCodecString(avcC: Uint8Array): string {
  const profileToLevel = Buffer.from(avcC.subarray(1, 4))
  return `avc1.${profileToLevel.toString('hex')}`
}

/** Formats the codec as specified in ISO/IEC 14496-15, Annex E.3. */
function toHevcCodecString(hvcC: Uint8Array): string {
  const view = new DataView(hvcC.buffer, hvcC.byteOffset, hvcC.byteLength)

  // One byte has the profile space (2 bits), the tier (1 bit) and the profile (5 bits).
  const profileByte = view.getUint8(1)
  const space = PROFILE_SPACES[profileByte >> 6]!
  const tier = profileByte & 0x20 ? 'H' : 'L'
  const profile = profileByte & 0x1f

  const compatibility = toHex(reverseBits(view.getUint32(2)))
  const level = view.getUint8(12)

  // Trailing zeros are omitted.
  const constraints = Array.from(hvcC.subarray(6, 12), toHex)
  while (constraints.at(-1) === '0') constraints.pop()

  return ['hvc1', `${space}${profile}`, compatibility, `${tier}${level}`, ...constraints].join('.')
}

const toHex = (number: number) => number.toString(16).toUpperCase()

/** Creates the sample entry of the `stsd` box (ISO/IEC 14496-12, 12.1.3). */
export function createVideoSampleEntry(track: PlayableTrack): Buffer {
  const { numerator, denominator } = track.pixelAspect
  const dataReferenceIndex = u16(0, 0, 0, 1)
  const reserved = u16(0, 0, 0, 0, 0, 0, 0, 0)
  const framesPerSample = u16(1)
  const compressorName = Buffer.alloc(32)
  const depthAndPredefined = u16(24, 0xffff)
  return box(
    'avcC' in track ? 'avc1' : 'hvc1',
    dataReferenceIndex,
    reserved,
    u16(track.width, track.height),
    u32(RESOLUTION_72_DPI, RESOLUTION_72_DPI, 0),
    framesPerSample,
    compressorName,
    depthAndPredefined,
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
