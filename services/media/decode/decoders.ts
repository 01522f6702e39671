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

/** The decoder of a codec that every machine has; undefined of a codec that needs looking for one. */
export const softwareDecoder = (codec: string): string | undefined => LIBAVCODEC[codec]

/** Decoders of this machine. */
export interface Decoders {
  /** The H.264 decoders that are there and whose hardware answers, best first. */
  readonly h264: readonly string[]
  /** The elements that a codec can be decoded with by this choice, best first. */
  of(decoder: Decoder, codec: string): readonly string[]
}

/** Tries every decoder once: a driver without its device shows itself on the way to PAUSED. */
export async function findDecoders(): Promise<Decoders> {
  const h264 = await filterWorking(H264_DECODERS, works)
  return {
    h264,
    of(decoder, codec) {
      if (decoder === 'gst_h264') return codec === 'h264' ? h264 : []
      if (codec === 'raw') return ['identity']
      if (decoder === 'gst') return ['decodebin3']
      return LIBAVCODEC[codec] ? [LIBAVCODEC[codec]] : []
    },
  }
}

const works = (name: string) => prerolls(`appsrc ! ${name} ! fakesink async=false`)

/** Packets come as MP4 has them; these take H.264 as it is broadcast. */
const BYTE_STREAM_ONLY: ReadonlySet<string> = new Set(['v4l2h264dec', 'openh264dec'])

/** Name of the decoding element in its pipeline. */
export const DECODER = 'decoder'

/** The decoder as a launch string. Pictures that miss what they refer to are left out rather than shown broken. */
export function decoderLaunch(name: string): string {
  const options = name === 'avdec_h264' ? ' output-corrupt=false' : ''
  const parser = BYTE_STREAM_ONLY.has(name) ? 'h264parse ! ' : ''
  return `${parser}${name} name=${DECODER}${options}`
}
