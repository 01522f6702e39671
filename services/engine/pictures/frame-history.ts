import type { MessageDraft } from '../output/message-draft.ts'
import type { DrawnObject } from './drawing.ts'

type FrameDraft = Extract<MessageDraft, { kind: 'frame' }>

/** An analysed frame and the objects in it. */
export interface AnalysedFrame {
  pts: number
  objects: readonly DrawnObject[]
}

/** Per channel. Media keeps the packets of a live stream for no longer. */
const MAX_FRAMES = 300

/** The frames that each channel analysed last, as long as media may still have their pictures. */
export interface FrameHistory {
  add(frame: FrameDraft): void
  /** The frame of the channel that is nearest to `pts`, or the newest. */
  find(channel: number, pts?: number): AnalysedFrame | undefined
}

/** Drops channels for which `isConfigured` is false when the first frame of another channel comes in. */
export function createFrameHistory(isConfigured: (channel: number) => boolean): FrameHistory {
  const channels = new Map<number, { epoch: number | null; frames: AnalysedFrame[] }>()
  return {
    add({ channel, pts, epoch, data }) {
      if (channel === null || pts === null) return
      const known = channels.get(channel)
      if (!known) for (const other of channels.keys()) if (!isConfigured(other)) channels.delete(other)
      const frames: AnalysedFrame[] = known?.epoch === epoch ? known.frames : []
      // Trails and other attributes would be most of the memory.
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
