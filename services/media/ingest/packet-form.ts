import { ANY_VIDEO } from '../gstreamer/video-caps.ts'
import type { Origin } from './origin/origin.ts'

/** In which form packets come: such that they can be passed through, or whatever there is. */
export type PacketForm = 'h264' | 'h265' | 'any'

export const toPacketForm = (codec: string): PacketForm =>
  codec === 'h264' || codec === 'h265' ? codec : 'any'

/** What to take a source for that has proved to be something else. */
export const NEXT_FORM = { h264: 'h265', h265: 'any', any: undefined } as const

/** Elements from the source up to its packets. */
export function formElements(form: PacketForm, { elements }: Origin): string[] {
  switch (form) {
    case 'h264':
      return [elements.h264, 'h264parse name=parse', 'video/x-h264,stream-format=avc,alignment=au']
    case 'h265': {
      const units = 'video/x-h265,stream-format=hvc1,alignment=au'
      return [elements.h265 ?? elements.any, 'h265parse name=parse', units]
    }
    case 'any':
      return [elements.any, `capsfilter name=parse caps="${ANY_VIDEO.join(';')}"`]
  }
}
