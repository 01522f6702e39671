import type { MessageDraft } from '../output/message-draft.ts'
import type { DrawnObject } from './drawing.ts'

type FrameDraft = Extract<MessageDraft, { kind: 'frame' }>

/** An analysed frame and the objects in it. */
export interface AnalysedFrame {
  pts: number
  objects: readonly DrawnObject[]
}

/** Per channel. Media buffers the packets of a live stream for no longer than this. */
const MAX_FRAMES = 300

/** Recently analysed frames of each channel, whose pictures media may still have. */
export interface FrameHistory {
  add(frame: FrameDraft): void
  /** The frame of the channel that is nearest to `pts`, or the newest. */
  find(channel: number, pts?: number): AnalysedFrame | undefined
}

/** When a new channel delivers its first frame, channels for which `isConfigured` is false are dropped. */
export function createFrameHistory(isConfigured: (channel: number) => boolean): FrameHistory {
  const channels = new Map<number, { epoch: number | null; frames: AnalysedFrame[] }>()
  return {
    add({ channel, pts, epoch, data }) {
      if (channel === null || pts === null) return
      const existing = channels.get(channel)
      if (!existing) for (const other of channels.keys()) if (!isConfigured(other)) channels.delete(other)
      const frames: AnalysedFrame[] = existing?.epoch === epoch ? existing.frames : []
      // Other attributes, such as trails, would use most of the memory.
      const objects = data.objects.map(({ class: name, track, bbox }) => ({ class: name, track, bbox }))
      frames.push({ pts, objects })
      if (frames.length > MAX_FRAMES) frames.shift()
      channels.set(channel, { epoch, frames })
    },
    find(channel, pts) {
      const frames = channels.get(channel)?.frames ?? []
      if (pts === undefined || frames.length === 0) return frames.at(-1)
      return frames.reduce((best, each) =>
        Math.abs(each.pts - pts) < Math.abs(best.pts - pts) ? each : best,
      )
    },
  }
}
