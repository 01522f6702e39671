import type { DetectedObject, Shape } from '@eyrie/contract'
import type { MessageToMedia } from '@eyrie/contract/media'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { MessageDraft } from '../output/message-draft.ts'

/** The part of the media client that the annotator uses. */
interface Recorder {
  isRecorded(source: number): boolean
  send(message: MessageToMedia): void
}

/**
 * Adds the results of the engine to the recordings of the media service: events, and the objects,
 * counters and shapes of frames. A player shows them together with the recorded video.
 */
export interface RecordingAnnotator {
  /**
   * Adds a message to the recording of its source, unless the message has no timestamp (`pts`) or
   * the source is not recorded. Throws if the message cannot be serialized as JSON.
   */
  annotate(draft: MessageDraft): void
}

type Annotation = Extract<MessageToMedia, { type: 'event' | 'result' }>

export function createRecordingAnnotator(
  media: Recorder,
  findShapes: (channel: number) => Shape[],
): RecordingAnnotator {
  /** The second of stream time in which the shapes of a channel were last sent. */
  const lastShapesSecond = new Map<number, number>()

  /**
   * Returns the shapes of a channel once for each second. A player thus finds them near any
   * position of the recording.
   */
  function findShapesOncePerSecond(channel: number, pts: number): Shape[] | undefined {
    const second = Math.floor(pts / TICKS_PER_SECOND)
    if (lastShapesSecond.get(channel) === second) return undefined
    lastShapesSecond.set(channel, second)
    return findShapes(channel)
  }

  /**
   * Returns the message that adds a draft to a recording. Returns undefined for kinds of messages
   * that are not recorded.
   */
  function toAnnotation(draft: MessageDraft, source: number): Annotation | undefined {
    const { channel, pts, time } = draft
    if (channel === null || pts === null) return undefined
    if (draft.kind === 'event') {
      return { type: 'event', source, channel, pts, time, data: draft.data }
    }
    if (draft.kind !== 'frame') return undefined

    const { objects, counters } = draft.data
    const shapes = findShapesOncePerSecond(channel, pts)
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
