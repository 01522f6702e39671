import { createHash } from 'node:crypto'
import type { RemoteArchive } from '../archive/remote-archive.ts'
import type { Clip } from '../format/clip.ts'
import type { RecordedSegment, TimeRange } from './recording-playback.ts'

export interface TaggedClip extends Clip {
  /** Hash of the segments and the time range. */
  tag: string
}

/** A player that seeks sends many range requests for the same clip, whose index is expensive to create. */
const MAX_CLIPS = 4

/** Returns a function that creates the clip of these segments, or undefined if they have no picture in this time. */
export function createClipCache(getArchive: () => Pick<RemoteArchive, 'clip'>) {
  /** The least recently used clip first. */
  const clips = new Map<string, TaggedClip>()

  return async (
    segments: readonly [RecordedSegment, ...RecordedSegment[]],
    { fromUs, toUs }: TimeRange,
  ): Promise<TaggedClip | undefined> => {
    const files = segments.map(({ file, bytes }) => [file, bytes])
    const tag = createHash('sha256')
      .update(JSON.stringify([files, fromUs, toUs]))
      .digest('base64url')
    const clip = clips.get(tag) ?? (await getArchive().clip(segments[0].source, fromUs, toUs))
    if (!clip) return undefined
    const tagged = { ...clip, tag }
    clips.delete(tag)
    clips.set(tag, tagged)
    const [oldest] = clips.keys()
    if (clips.size > MAX_CLIPS && oldest !== undefined) clips.delete(oldest)
    return tagged
  }
}
