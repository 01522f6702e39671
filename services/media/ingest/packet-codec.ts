import { ANY_VIDEO } from '../gstreamer/video-caps.ts'
import type { Origin } from './origin/origin.ts'

const FIRST_CODEC = 'h264'
/** `any` is last, because live views and recordings must transcode other codecs. */
const SEARCH_ORDER: readonly PacketCodec[] = [FIRST_CODEC, 'h265', 'any']

/**
 * The codec that a session accepts: H.264 or H.265, which live views and recordings pass
 * through, or any codec.
 */
export type PacketCodec = 'h264' | 'h265' | 'any'

export const toPacketCodec = (codec: string): PacketCodec =>
  codec === 'h264' || codec === 'h265' ? codec : 'any'

/**
 * Finds out the codec of an origin that does not declare it before playback, by requesting one
 * codec after the other.
 */
export interface CodecSearch {
  /** The codec to request: first H.264, later the one that the origin has sent last. */
  readonly current: PacketCodec
  /**
   * Must be called if the origin does not offer the current codec. Selects the next codec. Returns
   * false if the origin offers none, and starts the search again.
   */
  next(): boolean
  /**
   * Selects the codec that the origin has sent in reply to `any`. Returns false if it is current or
   * was requested in vain.
   */
  select(codec: PacketCodec): boolean
  /**
   * Lets `next` select every codec again. Must be called when the connection was lost, because
   * another camera may respond when the address can be reached again.
   */
  allowRejected(): void
}

export function createCodecSearch(): CodecSearch {
  let current: PacketCodec = FIRST_CODEC
  const rejected = new Set<PacketCodec>()
  return {
    get current() {
      return current
    },
    next() {
      rejected.add(current)
      const candidate = SEARCH_ORDER.find(codec => !rejected.has(codec))
      if (candidate) {
        current = candidate
        return true
      }
      current = FIRST_CODEC
      rejected.clear()
      return false
    },
    select(codec) {
      if (codec === current || rejected.has(codec)) return false
      current = codec
      return true
    },
    allowRejected: () => rejected.clear(),
  }
}

/**
 * Returns the GStreamer launch strings of the elements that receive and parse an origin's packets.
 */
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
