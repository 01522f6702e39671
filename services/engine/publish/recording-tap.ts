import type { DetectedObject, Shape } from '@eyrie/contract'
import type { MessageToMedia } from '@eyrie/contract/media'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { MessageDraft } from '../output/message-draft.ts'

/** The part of the media client that recording uses. The media service records sources; the engine adds its results. */
export interface Recorder {
  isRecorded(source: number): boolean
  send(message: MessageToMedia): void
}

/** Adds events and the objects, counters and shapes of frames to the recordings of their source. */
export interface RecordingTap {
  /**
   * Adds a message to the recording of its source, unless the message has no timestamp (`pts`) or the source is not
   * recorded. Throws if the message cannot be serialised as JSON.
   */
  annotate(draft: MessageDraft): void
}

type Annotation = Extract<MessageToMedia, { type: 'event' | 'result' }>

export function createRecordingTap(media: Recorder, findShapes: (channel: number) => Shape[]): RecordingTap {
  /** The second of stream time for which shapes were last sent, by channel. */
  const lastShapesSecond = new Map<number, number>()

  /** Returns the shapes of a channel, unless they were taken in this second: a player finds them near any position. */
  function takeShapesOncePerSecond(channel: number, pts: number): Shape[] | undefined {
    const second = Math.floor(pts / TICKS_PER_SECOND)
    if (lastShapesSecond.get(channel) === second) return undefined
    lastShapesSecond.set(channel, second)
    return findShapes(channel)
  }

  /** Returns the message that adds a draft to a recording; undefined for drafts that are not recorded. */
  function toAnnotation(draft: MessageDraft, source: number): Annotation | undefined {
    const { channel, pts, time } = draft
    if (channel === null || pts === null) return undefined
    if (draft.kind === 'event') return { type: 'event', source, channel, pts, time, data: draft.data }
    if (draft.kind !== 'frame') return undefined

    const { objects, counters } = draft.data
    const shapes = takeShapesOncePerSecond(channel, pts)
    return {
      type: 'result',
      source,
      channel,
      pts,
      objects: objects.map(withoutEmbedding),
      counters,
      ...(shapes && { shapes }),
    }
  }

  return {
    annotate(draft) {
      if (draft.source === null || !media.isRecorded(draft.source)) return
      const annotation = toAnnotation(draft, draft.source)
      if (annotation) media.send(annotation)
    },
  }
}

/** Embeddings are large, and a player does not use them. */
const withoutEmbedding = ({ embedding: _, ...object }: DetectedObject): DetectedObject => object
