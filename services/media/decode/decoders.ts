import type { Decoder } from '@eyrie/contract'
import { canReachPaused, filterWorking } from '../gstreamer/element-trial.ts'

/** H.264 decoders, best first: hardware, then libavcodec, then OpenH264. */
const H264_DECODERS = [
  'vah264dec',
  'nvh264dec',
  'v4l2slh264dec',
  'v4l2h264dec',
  'avdec_h264',
  'openh264dec',
] as const

/** The decoders of libavcodec (FFmpeg), by codec. */
const LIBAVCODEC: Record<string, string> = {
  h264: 'avdec_h264',
  h265: 'avdec_h265',
  vp8: 'avdec_vp8',
  vp9: 'avdec_vp9',
  jpeg: 'avdec_mjpeg',
}

/** Returns the software decoder of a codec, which is available on every machine; undefined for other codecs. */
export const softwareDecoder = (codec: string): string | undefined => LIBAVCODEC[codec]

/** The GStreamer decoders of this machine. */
export interface Decoders {
  /** H.264 decoders that work on this machine, best first. */
  readonly h264: readonly string[]
  /** Returns the elements that decode a codec with the configured decoder, best first; empty if the codec is not supported. */
  elementsFor(decoder: Decoder, codec: string): readonly string[]
}

/** Finds the decoders that work by trying each H.264 decoder once. A driver without its device cannot reach PAUSED. */
export async function findDecoders(): Promise<Decoders> {
  const h264 = await filterWorking(H264_DECODERS, canStart)
  return {
    h264,
    elementsFor(decoder, codec) {
      if (decoder === 'gst_h264') return codec === 'h264' ? h264 : []
      if (codec === 'raw') return ['identity']
      // GStreamer chooses the decoder itself.
      if (decoder === 'gst') return ['decodebin3']

      const element = softwareDecoder(codec)
      return element ? [element] : []
    },
  }
}

/** Whether a decoder can be initialized on this machine. */
const canStart = (element: string) => canReachPaused(`appsrc ! ${element} ! fakesink async=false`)

/** Decoders that require H.264 in byte-stream format (ITU-T H.264, Annex B). Packets have the format of MP4 instead. */
const BYTE_STREAM_ONLY: ReadonlySet<string> = new Set(['v4l2h264dec', 'openh264dec'])

/** Name of the decoding element in its pipeline. */
export const DECODER_NAME = 'decoder'

/** Returns the launch string of a decoder. Pictures with missing references are omitted instead of decoded with artifacts. */
export function decoderLaunch(element: string): string {
  const options = element === 'avdec_h264' ? ' output-corrupt=false' : ''
  const parser = BYTE_STREAM_ONLY.has(element) ? 'h264parse ! ' : ''
  return `${parser}${element} name=${DECODER_NAME}${options}`
}
