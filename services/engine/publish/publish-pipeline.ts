import type { Log } from '@eyrie/kit/log'
import type { MessageDraft, Publisher } from '../output/message-draft.ts'
import type { EventPictures } from '../pictures/event-pictures.ts'
import type { FrameHistory } from '../pictures/frame-history.ts'
import type { RecordingAnnotator } from './recording-annotator.ts'

/**
 * The steps through which every message of a channel, such as the objects of a frame or an event,
 * passes in this order.
 */
export interface PublishSteps {
  /** Adds events and detected objects to the recordings of their source. */
  recordings: RecordingAnnotator
  /** Retains the objects of recent frames for snapshots. */
  frameHistory?: FrameHistory | undefined
  /**
   * Delays an event by up to 50 ms to add the picture of its frame, and the counts and states of
   * the channel that follow it. Frames are not delayed.
   */
  eventPictures?: EventPictures | undefined
  /** Assigns a number to the message, stores it and sends it to clients. */
  output: Publisher
  log: Log
}

/**
 * Creates a publisher that passes messages through the steps. Messages are published even if
 * they cannot be recorded.
 */
export function createPublishPipeline(steps: PublishSteps): Publisher {
  const { recordings, frameHistory, eventPictures, output, log } = steps

  function annotateRecording(draft: MessageDraft): void {
    try {
      recordings.annotate(draft)
    } catch (error) {
      // Plugins may add data that cannot be serialized as JSON.
      const { channel, kind } = draft
      log.warn({ err: error, channel, kind }, 'failed to annotate recording')
    }
  }

  return {
    publish(draft: MessageDraft): void {
      annotateRecording(draft)
      if (draft.kind === 'frame') frameHistory?.add(draft)
      if (draft.kind === 'event' && eventPictures) {
        eventPictures.publish(draft, output)
      } else if ((draft.kind === 'count' || draft.kind === 'state') && eventPictures) {
        eventPictures.publishAfterEvents(draft, output)
      } else {
        output.publish(draft)
      }
    },
  }
}
