import type { DetectedObject, Shape } from '@eyrie/contract'
import type { MessageToMedia } from '@eyrie/contract/media'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { Draft, Publisher } from '../ports.ts'

/** Media, as far as it records. */
export interface RecordingMedia {
  isRecorded(source: number): boolean
  tell(message: MessageToMedia): void
}

/** Publishes, and tells media of the sources that it records when something happens and what is found in frames. */
export function tellingRecordings(
  publisher: Publisher,
  media: RecordingMedia,
  shapesOf: (channel: number) => Shape[],
): Publisher {
  /** By channel: the second of stream time in which they were told of last. */
  const shapesTold = new Map<number, number>()

  /** Again and again, so that whoever reads a recording finds them near any place. */
  function dueShapes(channel: number, pts: number): Shape[] | undefined {
    const second = Math.floor(pts / TICKS_PER_SECOND)
    if (shapesTold.get(channel) === second) return undefined
    shapesTold.set(channel, second)
    return shapesOf(channel)
  }

  function messageOf(draft: Draft): Extract<MessageToMedia, { type: 'event' | 'result' }> | undefined {
    const { source, channel, pts, time } = draft
    if (source === null || channel === null || pts === null) return undefined
    if (draft.kind === 'event') return { type: 'event', source, channel, pts, time, data: draft.data }
    if (draft.kind !== 'frame') return undefined
    const { objects, counters } = draft.data
    const shapes = dueShapes(channel, pts)
    const found = { source, channel, pts, objects: objects.map(shown), counters }
    return { type: 'result', ...found, ...(shapes && { shapes }) }
  }

  return {
    publish(draft) {
      publisher.publish(draft)
      if (draft.source === null || !media.isRecorded(draft.source)) return
      const message = messageOf(draft)
      if (message) media.tell(message)
    },
  }
}

/** An embedding is large, and nobody draws it. */
const shown = ({ embedding: _, ...object }: DetectedObject): DetectedObject => object
