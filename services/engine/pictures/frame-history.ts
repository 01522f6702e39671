import type { MessageDraft } from '../output/message-draft.ts'
import type { DrawnObject } from './drawing.ts'

type FrameDraft = Extract<MessageDraft, { kind: 'frame' }>

/** An analysed frame of a channel and the objects in it. */
export interface AnalysedFrame {
  /** Presentation time in 90 kHz ticks. */
  pts: number
  /** Time of capture in epoch ms. */
  timeMs: number
  objects: readonly DrawnObject[]
}

/**
 * 20 s at 30 frames per second. Older frames are useless: their pictures are no longer available,
 * because the media service buffers pictures for 20 s by default (setting `snapshot_s`).
 */
const MAX_FRAMES_PER_CHANNEL = 600

/**
 * A moment in the stream of a channel: a presentation time in 90 kHz ticks, or a time of
 * capture in epoch ms.
 */
export type FramePosition = { pts: number } | { timeMs: number }

/** The recently analysed frames of each channel, with their objects but without pictures. */
export interface FrameHistory {
  add(frame: FrameDraft): void
  /**
   * Returns the frame of a channel that is nearest to a position, or the newest
   * frame without a position.
   */
  find(channel: number, position?: FramePosition): AnalysedFrame | undefined
}

interface ChannelHistory {
  /** Identifies the time base of `pts`. It changes when the media service restarts. */
  epoch: number | null
  frames: AnalysedFrame[]
}

/**
 * Creates an empty history. Frames of channels that are no longer configured are deleted when a
 * new channel is added.
 */
export function createFrameHistory(isConfigured: (channel: number) => boolean): FrameHistory {
  const channels = new Map<number, ChannelHistory>()

  function deleteRemovedChannels(): void {
    for (const channel of channels.keys()) {
      if (!isConfigured(channel)) channels.delete(channel)
    }
  }

  return {
    add({ channel, pts, epoch, time, data }) {
      if (channel === null || pts === null) return
      const existing = channels.get(channel)
      if (!existing) deleteRemovedChannels()

      // A new epoch starts with new `pts` values, which cannot be compared with those
      // of the previous epoch.
      const frames: AnalysedFrame[] = existing?.epoch === epoch ? existing.frames : []
      // Other attributes, such as trails, would use most of the memory.
      const objects = data.objects.map(({ class: name, track, bbox }) => ({
        class: name,
        track,
        bbox,
      }))
      frames.push({ pts, timeMs: Date.parse(time), objects })
      if (frames.length > MAX_FRAMES_PER_CHANNEL) frames.shift()
      channels.set(channel, { epoch, frames })
    },

    find(channel, position) {
      const frames = channels.get(channel)?.frames ?? []
      if (!position) return frames.at(-1)

      let nearest: AnalysedFrame | undefined
      let minDistance = Number.POSITIVE_INFINITY
      for (const frame of frames) {
        const distance = measureDistance(frame, position)
        if (distance >= minDistance) continue
        nearest = frame
        minDistance = distance
      }
      return nearest
    },
  }
}

/** Returns the distance of a frame from a position, in the unit of the position. */
const measureDistance = (frame: AnalysedFrame, position: FramePosition): number =>
  Math.abs('pts' in position ? frame.pts - position.pts : frame.timeMs - position.timeMs)
