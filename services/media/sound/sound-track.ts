import { box, fullBox, u16, u32 } from '@eyrie/kit/mp4-boxes'

/** An AAC track. */
export interface SoundTrack {
  /** Samples per second. */
  rate: number
  channels: number
  /** AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1). */
  configuration: Uint8Array
}

/** An Opus track: one stream with one or two channels at 48 kHz (RFC 6716). */
export interface OpusTrack {
  channels: number
}

/** One coded frame of sound. Times in 90 kHz ticks of stream time. */
export interface SoundUnit {
  pts: number
  duration: number
  data: Uint8Array
}

const OBJECT_TYPE_AAC = 0x40
const AUDIO_STREAM = 0x15
const SAMPLE_BITS = 16

/** The codec as in Media Source Extensions (RFC 6381), such as `mp4a.40.2`. */
export function toSoundCodecString({ configuration }: SoundTrack): string {
  return `mp4a.40.${configuration[0]! >> 3}`
}

/** Creates the sample entry of the `stsd` box. */
export function createSoundSampleEntry({ rate, channels, configuration }: SoundTrack): Buffer {
  const header = [u16(0, 0, 0, 1), u32(0, 0), u16(channels, SAMPLE_BITS, 0, 0), u32(rate * 0x10000)]
  return box('mp4a', ...header, fullBox('esds', 0, 0, createElementaryStreamDescriptor(configuration)))
}

/** ES_Descriptor (ISO/IEC 14496-1, 7.2.6.5). */
function createElementaryStreamDescriptor(configuration: Uint8Array): Buffer {
  const unknownSizeAndRates = Buffer.alloc(11)
  const specific = createDescriptor(5, configuration)
  const decoder = createDescriptor(4, Buffer.of(OBJECT_TYPE_AAC, AUDIO_STREAM), unknownSizeAndRates, specific)
  return createDescriptor(3, Buffer.of(0, 0, 0), decoder, createDescriptor(6, Buffer.of(2)))
}

function createDescriptor(tag: number, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.of(tag, body.length), body])
}
