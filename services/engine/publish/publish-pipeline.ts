import type { Log } from '@eyrie/kit/log'
import type { MessageDraft, Publisher } from '../output/message-draft.ts'
import type { EventPictures } from '../pictures/event-pictures.ts'
import type { FrameHistory } from '../pictures/frame-history.ts'
import type { RecordingTap } from './recording-tap.ts'

/** The steps of publishing a message, in order. Only `recordings` and `output` are required. */
export interface PublishSteps {
  /** Stores events and results with the recordings of their source. */
  recordings: RecordingTap
  /** Keeps recent frames for snapshots of channels. */
  frameHistory?: FrameHistory | undefined
  /** Delays an event by up to 50 ms for the picture of its frame. No other message waits. */
  eventPictures?: EventPictures | undefined
  /** Numbers, stores and sends the message. */
  output: Publisher
  log: Log
}

/** Passes every message of a channel through the steps. A failing recording tap does not keep a message from the output. */
export function createPublishPipeline(steps: PublishSteps): Publisher {
  const { recordings, frameHistory, eventPictures, output, log } = steps

  function annotateRecording(draft: MessageDraft): void {
    try {
      recordings.annotate(draft)
    } catch (error) {
      // Plugins may attach data that cannot be serialised.
      const { channel, kind } = draft
      log.warn({ err: error, channel, kind }, 'failed to annotate recording')
    }
  }

  return {
    publish(draft: MessageDraft): void {
      annotateRecording(draft)
      if (draft.kind === 'frame') frameHistory?.add(draft)
      if (draft.kind === 'event' && eventPictures) eventPictures.attach(draft, output)
      else output.publish(draft)
    },
  }
}
