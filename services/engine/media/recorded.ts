import type { DetectedObject } from '@eyrie/contract'
import type { ToMedia } from '@eyrie/contract/media'
import type { Draft, Publisher } from '../ports.ts'

/** Media, as far as it records. */
export interface RecordingMedia {
  isRecorded(source: number): boolean
  tell(message: ToMedia): void
}

/** Publishes, and tells media of the sources that it records when something happens and what is found in frames. */
export function tellingRecordings(publisher: Publisher, media: RecordingMedia): Publisher {
  return {
    publish(draft) {
      publisher.publish(draft)
      if (draft.source === null || !media.isRecorded(draft.source)) return
      const message = messageOf(draft)
      if (message) media.tell(message)
    },
  }
}

function messageOf(draft: Draft): Extract<ToMedia, { type: 'event' | 'result' }> | undefined {
  const { source, channel, pts } = draft
  if (source === null || channel === null || pts === null) return undefined
  if (draft.kind === 'event') return { type: 'event', source, pts }
  if (draft.kind !== 'frame') return undefined
  const { objects, counters } = draft.data
  return { type: 'result', source, channel, pts, objects: objects.map(shown), counters }
}

/** An embedding is large, and nobody draws it. */
const shown = ({ embedding: _, ...object }: DetectedObject): DetectedObject => object
