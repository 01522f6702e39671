import type { DetectedObject, Shape } from '@eyrie/contract'
import type { MessageToMedia } from '@eyrie/contract/media'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { MessageDraft } from '../output/message-draft.ts'

/** The part of the media client that the tap uses. */
export interface Recorder {
  isRecorded(source: number): boolean
  send(message: MessageToMedia): void
}

/** Annotates recordings with events and with the objects, counters and shapes of frames. */
export interface RecordingTap {
  /** Ignores messages without a `pts` and sources that are not recorded. Throws if the message cannot be serialised. */
  annotate(draft: MessageDraft): void
}

export function createRecordingTap(
  media: Recorder,
  channelShapes: (channel: number) => Shape[],
): RecordingTap {
  /** The second of stream time for which the shapes of a channel were last sent, by channel. */
  const shapesSentFor = new Map<number, number>()

  /** Shapes are repeated every second so that a player finds them near any position of a recording. */
  function shapesToRepeat(channel: number, pts: number): Shape[] | undefined {
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
    const shapes = shapesToRepeat(channel, pts)
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

/** Embeddings are large and never drawn. */
const withoutEmbedding = ({ embedding: _, ...object }: DetectedObject): DetectedObject => object
