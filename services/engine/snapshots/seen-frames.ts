import type { Publisher } from '../ports.ts'
import type { DrawnObject } from '../sinks/hosted-video/drawing.ts'

/** What was found in a frame. */
export interface SeenFrame {
  pts: number
  objects: readonly DrawnObject[]
}

/** Media keeps packets for no longer than that. */
const MOST_KEPT = 300

/** The frames that channels have analysed last, as far as pictures of them may still be had. */
export interface SeenFrames extends Publisher {
  /** The frame nearest to this `pts`, or the newest. */
  at(channel: number, pts?: number): SeenFrame | undefined
}

/**
 * Publishes, and remembers the frames that pass. Those of channels that are gone, by `isThere`, are forgotten when a new
 * one comes.
 */
export function rememberFrames(publisher: Publisher, isThere: (channel: number) => boolean): SeenFrames {
  const channels = new Map<number, { epoch: number | null; frames: SeenFrame[] }>()
  return {
    publish(draft) {
      publisher.publish(draft)
      const { channel, pts, epoch } = draft
      if (draft.kind !== 'frame' || channel === null || pts === null) return
      const known = channels.get(channel)
      if (!known) for (const other of channels.keys()) if (!isThere(other)) channels.delete(other)
      const frames: SeenFrame[] = known?.epoch === epoch ? known.frames : []
      // Trails and the like would be most of what is kept.
      const objects = draft.data.objects.map(({ class: name, track, bbox }) => ({ class: name, track, bbox }))
      frames.push({ pts, objects })
      if (frames.length > MOST_KEPT) frames.shift()
      channels.set(channel, { epoch, frames })
    },
    at(channel, pts) {
      const frames = channels.get(channel)?.frames ?? []
      if (pts === undefined || frames.length === 0) return frames.at(-1)
      return frames.reduce((best, each) =>
        Math.abs(each.pts - pts) < Math.abs(best.pts - pts) ? each : best,
      )
    },
  }
}
