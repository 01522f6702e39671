import type { MessageDraft, Publisher } from '../output/message-draft.ts'
import type { EventPictures } from '../pictures/event-pictures.ts'
import type { FrameHistory } from '../pictures/frame-history.ts'
import type { RecordingTap } from './recording-tap.ts'

/** The steps that a message passes, in this order. Only `recordings` and `output` are required. */
export interface PublishSteps {
  /** Media stores events and results with the recordings of their source. */
  recordings: RecordingTap
  /** Snapshots of channels are drawn from the objects of recent frames. */
  frameHistory?: FrameHistory | undefined
  /** An event waits up to 50 ms for the picture of its frame; no other message waits. */
  eventPictures?: EventPictures | undefined
  /** Numbers, stores and sends the message. */
  output: Publisher
}

/** The way of every message from a channel to the output. */
export function createPublishPipeline(steps: PublishSteps): Publisher {
  const { recordings, frameHistory, eventPictures, output } = steps
  return {
    publish(draft: MessageDraft): void {
      recordings.annotate(draft)
      if (draft.kind === 'frame') frameHistory?.add(draft)
      if (draft.kind === 'event' && eventPictures) eventPictures.attach(draft, output)
      else output.publish(draft)
    },
  }
}
