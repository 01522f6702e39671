import type { DetectedObject, Shape } from '@eyrie/contract'
import type { MessageToMedia } from '@eyrie/contract/media'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { MessageDraft } from '../output/message-draft.ts'

/** The part of media that records sources. */
export interface Recorder {
  isRecorded(source: number): boolean
  send(message: MessageToMedia): void
}

/** Annotates the recordings of media with events, and with the objects, counters and shapes of frames. */
export interface RecordingTap {
  /** Does nothing for a message of a source that is not recorded, or without a `pts`. */
  annotate(draft: MessageDraft): void
}

export function createRecordingTap(
  media: Recorder,
  channelShapes: (channel: number) => Shape[],
): RecordingTap {
  /** By channel: the second of stream time for which its shapes were sent last. */
  const shapesSentFor = new Map<number, number>()

  /** Shapes are repeated every second, so that a reader finds them near any position of a recording. */
  function dueShapes(channel: number, pts: number): Shape[] | undefined {
    const second = Math.floor(pts / TICKS_PER_SECOND)
    if (shapesSentFor.get(channel) === second) return undefined
    shapesSentFor.set(channel, second)
    return channelShapes(channel)
  }

  function toAnnotation(
    draft: MessageDraft,
  ): Extract<MessageToMedia, { type: 'event' | 'result' }> | undefined {
    const { source, channel, pts, time } = draft
    if (source === null || channel === null || pts === null) return undefined
    if (draft.kind === 'event') return { type: 'event', source, channel, pts, time, data: draft.data }
    if (draft.kind !== 'frame') return undefined
    const { objects, counters } = draft.data
    const shapes = dueShapes(channel, pts)
    const result = { source, channel, pts, objects: objects.map(withoutEmbedding), counters }
    return { type: 'result', ...result, ...(shapes && { shapes }) }
  }

  return {
    annotate(draft) {
      if (draft.source === null || !media.isRecorded(draft.source)) return
      const annotation = toAnnotation(draft)
      if (annotation) media.send(annotation)
    },
  }
}

/** An embedding is large and is never drawn. */
const withoutEmbedding = ({ embedding: _, ...object }: DetectedObject): DetectedObject => object
