import { createHash } from 'node:crypto'
import type { RemoteArchive } from '../archive/remote-archive.ts'
import type { Clip } from '../format/clip.ts'
import type { RecordedSegment, TimeRange } from './recording-playback.ts'

export interface TaggedClip extends Clip {
  tag: string
}

/** A player that seeks asks for part after part of the same clip: it is not described anew for each. */
const CLIPS_KEPT = 4

export function createClipCache(archive: () => Pick<RemoteArchive, 'clip'>) {
  const clips = new Map<string, TaggedClip>()

  /** Of these files; undefined where there is nothing. */
  return async (
    [first, ...rest]: readonly [RecordedSegment, ...RecordedSegment[]],
    { fromUs, toUs }: TimeRange,
  ): Promise<TaggedClip | undefined> => {
    const files = [first, ...rest].map(({ file, bytes }) => [file, bytes])
    const tag = createHash('sha256')
      .update(JSON.stringify([files, fromUs, toUs]))
      .digest('base64url')
    const known = clips.get(tag)
    const clip = known ?? (await archive().clip(first.source, fromUs, toUs))
    if (!clip) return undefined
    const tagged = { ...clip, tag }
    clips.delete(tag)
    clips.set(tag, tagged)
    const [oldest] = clips.keys()
    if (clips.size > CLIPS_KEPT && oldest !== undefined) clips.delete(oldest)
    return tagged
  }
}
