import { ANY_VIDEO } from '../gstreamer/video-caps.ts'
import type { Origin } from './origin/origin.ts'

/**
 * The codec that a session accepts: H.264 or H.265, which live views and recordings pass
 * through, or any codec.
 */
export type PacketCodec = 'h264' | 'h265' | 'any'

const FIRST_CODEC = 'h264'
/** `any` is last, because live views and recordings must transcode other codecs. */
const SEARCH_ORDER: readonly PacketCodec[] = [FIRST_CODEC, 'h265', 'any']

/** Returns the codec that a session must accept for packets in this codec. */
export const toPacketCodec = (codec: string): PacketCodec =>
  codec === 'h264' || codec === 'h265' ? codec : 'any'

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

/**
 * Finds out the codec of an origin that does not declare it before playback, by requesting one
 * codec after the other.
 */
export interface CodecSearch {
  /** The codec to request. */
  readonly current: PacketCodec
  /**
   * Must be called if the origin does not offer the current codec. Continues with the next codec
   * that was not rejected, and returns true. If every codec was rejected, starts the search again
   * and returns false.
   */
  rejectCurrent(): boolean
  /**
   * Must be called with the codec that the origin has sent in reply to `any`. Continues with this
   * codec, unless it was rejected. Returns whether the current codec has changed.
   */
  switchTo(codec: PacketCodec): boolean
  /**
   * Allows the search to request every codec again. Must be called when the connection was lost,
   * because another camera may respond when the address can be reached again.
   */
  clearRejections(): void
}

export function createCodecSearch(): CodecSearch {
  let current: PacketCodec = FIRST_CODEC
  const rejected = new Set<PacketCodec>()
  return {
    get current() {
      return current
    },
    rejectCurrent() {
      rejected.add(current)
      const next = SEARCH_ORDER.find(codec => !rejected.has(codec))
      if (next === undefined) rejected.clear()
      current = next ?? FIRST_CODEC
      return next !== undefined
    },
    switchTo(codec) {
      if (codec === current || rejected.has(codec)) return false
      current = codec
      return true
    },
    clearRejections: () => rejected.clear(),
  }
}
