import type { Decoder } from '@eyrie/contract'
import { filterWorking, prerolls } from '../gstreamer/element-trial.ts'

/** H.264 decoders, best first: hardware, then libavcodec, then OpenH264. */
const H264_DECODERS = [
  'vah264dec',
  'nvh264dec',
  'v4l2slh264dec',
  'v4l2h264dec',
  'avdec_h264',
  'openh264dec',
] as const

const LIBAVCODEC: Record<string, string> = {
  h264: 'avdec_h264',
  h265: 'avdec_h265',
  vp8: 'avdec_vp8',
  vp9: 'avdec_vp9',
  jpeg: 'avdec_mjpeg',
}

/** Returns the software decoder of a codec, which every machine has; undefined for other codecs. */
export const softwareDecoder = (codec: string): string | undefined => LIBAVCODEC[codec]

/** The decoders of this machine. */
export interface Decoders {
  /** H.264 decoders that work on this machine, best first. */
  readonly h264: readonly string[]
  /** Returns the elements that decode a codec with the configured decoder, best first. */
  elementsFor(decoder: Decoder, codec: string): readonly string[]
}

/** Tries every H.264 decoder once. A driver without its device fails on the way to PAUSED. */
export async function findDecoders(): Promise<Decoders> {
  const h264 = await filterWorking(H264_DECODERS, canStart)
  return {
    h264,
    elementsFor(decoder, codec) {
      if (decoder === 'gst_h264') return codec === 'h264' ? h264 : []
      if (codec === 'raw') return ['identity']
      if (decoder === 'gst') return ['decodebin3']
      return LIBAVCODEC[codec] ? [LIBAVCODEC[codec]] : []
    },
  }
}

const canStart = (element: string) => prerolls(`appsrc ! ${element} ! fakesink async=false`)

/** Decoders that require H.264 in byte-stream format. Packets are in the format of MP4. */
const BYTE_STREAM_ONLY: ReadonlySet<string> = new Set(['v4l2h264dec', 'openh264dec'])

/** Name of the decoding element in its pipeline. */
export const DECODER_NAME = 'decoder'

/** Returns a decoder as a launch string. Pictures with missing references are omitted instead of shown corrupted. */
export function decoderLaunch(element: string): string {
  const options = element === 'avdec_h264' ? ' output-corrupt=false' : ''
  const parser = BYTE_STREAM_ONLY.has(element) ? 'h264parse ! ' : ''
  return `${parser}${element} name=${DECODER_NAME}${options}`
}
