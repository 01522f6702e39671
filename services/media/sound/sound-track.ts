import { box, fullBox, u16, u32 } from '@eyrie/kit/mp4-boxes'

/** AAC. */
export interface SoundTrack {
  /** Samples a second. */
  rate: number
  channels: number
  /** AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1). */
  configuration: Uint8Array
}

/** Opus: one stream of one or two channels at 48 kHz (RFC 6716). */
export interface OpusTrack {
  channels: number
}

/** One coded piece of sound. Times in 90 kHz ticks of stream time. */
export interface SoundUnit {
  pts: number
  duration: number
  data: Uint8Array
}

const AAC = 0x40
const AUDIO_STREAM = 0x15
const SAMPLE_BITS = 16

/** The codec as Media Source Extensions name it (RFC 6381): `mp4a.40.2`. */
export function toSoundCodecString({ configuration }: SoundTrack): string {
  return `mp4a.40.${configuration[0]! >> 3}`
}

/** The entry in `stsd` that describes such a track. */
export function createSoundSampleEntry({ rate, channels, configuration }: SoundTrack): Buffer {
  const header = [u16(0, 0, 0, 1), u32(0, 0), u16(channels, SAMPLE_BITS, 0, 0), u32(rate * 0x10000)]
  return box('mp4a', ...header, fullBox('esds', 0, 0, elementaryStream(configuration)))
}

/** ES_Descriptor (ISO/IEC 14496-1, 7.2.6.5). */
function elementaryStream(configuration: Uint8Array): Buffer {
  const unknownSizeAndRates = Buffer.alloc(11)
  const specific = descriptor(5, configuration)
  const decoder = descriptor(4, Buffer.of(AAC, AUDIO_STREAM), unknownSizeAndRates, specific)
  return descriptor(3, Buffer.of(0, 0, 0), decoder, descriptor(6, Buffer.of(2)))
}

function descriptor(tag: number, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.of(tag, body.length), body])
}
