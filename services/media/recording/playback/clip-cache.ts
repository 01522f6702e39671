import { createHash } from 'node:crypto'
import type { RecordedSegment } from '../archive/archive-queries.ts'
import type { RemoteArchive } from '../archive/remote-archive.ts'
import type { Clip } from '../format/clip.ts'
import type { TimeRange } from './recording-playback.ts'

/** A clip (an MP4 file made from a time range of the recordings) with its entity tag. */
export interface TaggedClip extends Clip {
  /** Hash of the segments and the time range, which identify the content. */
  tag: string
}

const MAX_CACHED_CLIPS = 4

/**
 * Returns a function that creates the clip of segments in a time range; undefined if the segments
 * have no picture in this time. Recent clips are cached: a player that seeks sends many range
 * requests for one clip, and its index is expensive to create.
 */
export function createClipCache(getArchive: () => Pick<RemoteArchive, 'createClip'>) {
  /** Cached clips by tag, the least recently used first. */
  const clips = new Map<string, TaggedClip>()

  return async (
    segments: readonly [RecordedSegment, ...RecordedSegment[]],
    { fromUs, toUs }: TimeRange,
  ): Promise<TaggedClip | undefined> => {
    const files = segments.map(({ file, bytes }) => [file, bytes])
    const tag = createHash('sha256')
      .update(JSON.stringify([files, fromUs, toUs]))
      .digest('base64url')

    const clip = clips.get(tag) ?? (await getArchive().createClip(segments[0].source, fromUs, toUs))
    if (!clip) return undefined

    // A map keeps the order of insertion, so the clip used last is inserted again.
    const tagged = { ...clip, tag }
    clips.delete(tag)
    clips.set(tag, tagged)

    const [leastRecent] = clips.keys()
    if (clips.size > MAX_CACHED_CLIPS && leastRecent !== undefined) clips.delete(leastRecent)
    return tagged
  }
}
