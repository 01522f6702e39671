import { box, fullBox, u16, u32 } from '@eyrie/kit/mp4-boxes'

/** The format of AAC sound, with everything that an MP4 file declares about it. */
export interface SoundTrack {
  /** Samples per second. */
  rate: number
  channels: number
  /** AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1). */
  configuration: Uint8Array
}

/** The format of Opus sound: one stream with one or two channels at 48 kHz (RFC 6716). */
export interface OpusTrack {
  channels: number
}

/** One encoded frame of sound. Times are in 90 kHz ticks of stream time. */
export interface SoundUnit {
  pts: number
  duration: number
  data: Uint8Array
}

// Descriptor tags (ISO/IEC 14496-1, table 1).
const ES_DESCRIPTOR = 3
const DECODER_CONFIG_DESCRIPTOR = 4
const DECODER_SPECIFIC_INFO = 5
const SL_CONFIG_DESCRIPTOR = 6

const OBJECT_TYPE_AAC = 0x40
/** Stream type 5 (audio), shifted by two bits, with the reserved bit. */
const AUDIO_STREAM = 0x15
/** SLConfigDescriptor for MP4 files (ISO/IEC 14496-14, 3.1.2). */
const PREDEFINED_MP4 = 2
const SAMPLE_BITS = 16
/** The `mp4a` sample entry has 16 bits for the samples per second. */
const MAX_ENTRY_RATE = 0xffff

/** Returns the codec string of Media Source Extensions (RFC 6381), such as `mp4a.40.2`. */
export const toSoundCodecString = (track: SoundTrack): string => `mp4a.40.${parseObjectType(track)}`

/** Returns the audio object type, which is in the first five bits of the AudioSpecificConfig. */
export function parseObjectType({ configuration }: Pick<SoundTrack, 'configuration'>): number {
  const [firstByte = 0] = configuration
  return firstByte >> 3
}

/**
 * Creates the sample entry for the `stsd` box. A sample rate that it cannot contain, such as
 * 96 kHz, is written as 0: decoders read the rate from the AudioSpecificConfig.
 */
export function createSoundSampleEntry({ rate, channels, configuration }: SoundTrack): Buffer {
  const dataReferenceIndex = u16(0, 0, 0, 1)
  const reserved = u32(0, 0)
  const fixedPointRate = u32(rate > MAX_ENTRY_RATE ? 0 : rate * 0x10000)
  return box(
    'mp4a',
    dataReferenceIndex,
    reserved,
    u16(channels, SAMPLE_BITS, 0, 0),
    fixedPointRate,
    fullBox('esds', 0, 0, createElementaryStreamDescriptor(configuration)),
  )
}

/** Creates an ES_Descriptor (ISO/IEC 14496-1, 7.2.6.5). */
function createElementaryStreamDescriptor(configuration: Uint8Array): Buffer {
  const unknownSizeAndRates = Buffer.alloc(11)
  const decoderConfig = createDescriptor(
    DECODER_CONFIG_DESCRIPTOR,
    Buffer.of(OBJECT_TYPE_AAC, AUDIO_STREAM),
    unknownSizeAndRates,
    createDescriptor(DECODER_SPECIFIC_INFO, configuration),
  )
  const syncConfig = createDescriptor(SL_CONFIG_DESCRIPTOR, Buffer.of(PREDEFINED_MP4))
  const idAndFlags = Buffer.of(0, 0, 0)
  return createDescriptor(ES_DESCRIPTOR, idAndFlags, decoderConfig, syncConfig)
}

/** Creates a descriptor of up to 127 bytes. */
function createDescriptor(tag: number, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.of(tag, body.length), body])
}
