import { ANY_VIDEO } from '../gstreamer/video-caps.ts'
import type { Origin } from './origin/origin.ts'

/** The codec that a session accepts: H.264 or H.265, which live views and recordings pass through, or any codec. */
export type PacketCodec = 'h264' | 'h265' | 'any'

export const toPacketCodec = (codec: string): PacketCodec =>
  codec === 'h264' || codec === 'h265' ? codec : 'any'

/** The codec to try next if the source does not offer a codec. */
export const FALLBACK_CODEC = { h264: 'h265', h265: 'any', any: undefined } as const

/** Returns the GStreamer launch strings of the elements that receive and parse an origin's packets. */
export function buildPacketElements(codec: PacketCodec, { elements }: Origin): string[] {
  switch (codec) {
    case 'h264':
      return [elements.h264, 'h264parse name=parse', 'video/x-h264,stream-format=avc,alignment=au']
    case 'h265': {
      const caps = 'video/x-h265,stream-format=hvc1,alignment=au'
      return [elements.h265 ?? elements.any, 'h265parse name=parse', caps]
    }
    case 'any':
      return [elements.any, `capsfilter name=parse caps="${ANY_VIDEO.join(';')}"`]
  }
}
