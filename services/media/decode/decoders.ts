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

/** H.265 decoders, best first: hardware, then libavcodec. */
const H265_DECODERS = ['vah265dec', 'nvh265dec', 'v4l2slh265dec', 'avdec_h265'] as const

/** The decoders of libavcodec (FFmpeg), by codec. */
const LIBAVCODEC_DECODERS: Record<string, string> = {
  h264: 'avdec_h264',
  h265: 'avdec_h265',
  vp8: 'avdec_vp8',
  vp9: 'avdec_vp9',
  jpeg: 'avdec_mjpeg',
  mpeg4: 'avdec_mpeg4',
  mpeg2: 'avdec_mpeg2video',
}

/** Element that lets GStreamer select the decoder. */
const AUTOMATIC = 'decodebin3'

/**
 * The parsers before decoders that require a byte stream (ITU-T H.264 and H.265, Annex B), whereas
 * the packets of a source have the format of MP4. A parser converts them.
 */
const BYTE_STREAM_PARSERS: Record<string, string> = {
  nvh264dec: 'h264parse',
  v4l2h264dec: 'h264parse',
  openh264dec: 'h264parse',
  nvh265dec: 'h265parse',
}

/** Decoders that by default output pictures with artifacts if reference pictures are missing. */
const CORRUPT_BY_DEFAULT: ReadonlySet<string> = new Set(['avdec_h264', 'avdec_h265'])

/** Name of the decoding element in its pipeline. */
export const DECODER_NAME = 'decoder'

/** The GStreamer decoders of this machine. */
export interface Decoders {
  /** H.264 decoders that work on this machine, best first. */
  readonly h264: readonly string[]
  /**
   * Returns the elements that decode a codec, best first; empty if the codec is not supported.
   * `decoder` is the user's choice: `gst_h264` for the best decoder of this machine, `gst` to let
   * GStreamer choose, `ffmpeg` for software.
   */
  elementsFor(decoder: Decoder, codec: string): readonly string[]
}

/**
 * Finds the H.264 and H.265 decoders that work on this machine, by starting each of them once: a
 * hardware decoder may be installed although the device is missing. Decoders of other codecs are
 * not tried, because they run in software.
 */
export async function findDecoders(): Promise<Decoders> {
  const [h264, h265] = await Promise.all([
    filterWorking(H264_DECODERS, canStart),
    filterWorking(H265_DECODERS, canStart),
  ])

  function listBest(codec: string): readonly string[] {
    if (codec === 'h264') return h264
    if (codec === 'h265') return h265
    const software = findSoftwareDecoder(codec)
    return software ? [software, AUTOMATIC] : [AUTOMATIC]
  }

  return {
    h264,
    elementsFor(decoder, codec) {
      if (codec === 'raw') return ['identity']
      if (decoder === 'gst_h264') return listBest(codec)
      if (decoder === 'gst') return [AUTOMATIC]

      const element = findSoftwareDecoder(codec)
      return element ? [element] : []
    },
  }
}

/** Whether a decoder can be initialized on this machine. */
const canStart = (element: string) => canReachPaused(`appsrc ! ${element} ! fakesink async=false`)

/**
 * Returns the software decoder of a codec, which is available on every machine; undefined
 * for unsupported codecs.
 */
export const findSoftwareDecoder = (codec: string): string | undefined => LIBAVCODEC_DECODERS[codec]

/**
 * Returns the launch string of a decoder. The decoder omits pictures whose reference
 * pictures are missing.
 */
export function buildDecoderLaunch(element: string): string {
  const options = CORRUPT_BY_DEFAULT.has(element) ? ' output-corrupt=false' : ''
  const parser = BYTE_STREAM_PARSERS[element]
  const conversion = parser ? `${parser} ! ` : ''
  return `${conversion}${element} name=${DECODER_NAME}${options}`
}
