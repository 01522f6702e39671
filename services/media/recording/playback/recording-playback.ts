import { open } from 'node:fs/promises'
import type { SegmentRow } from '../archive/recording-index.ts'
import type { RemoteArchive } from '../archive/remote-archive.ts'
import { relocateFragment } from '../format/fragment-samples.ts'
import { getDuration, placeFragment, selectFragments, timelineStart } from '../format/playback-timeline.ts'
import { createReferenceTimeBox, type Fragment } from '../format/segment-format.ts'

export interface RecordedSegment extends SegmentRow {
  path: string
}

/** In µs since 1970; `toUs` is exclusive. */
export interface TimeRange {
  fromUs: number
  toUs: number
}

/** Returns the leading segments with the same codecs and picture size, which can be played as one file. */
export function takeSameFormat(segments: readonly RecordedSegment[]): RecordedSegment[] {
  const [first] = segments
  const end = segments.findIndex(
    ({ codecs, width, height }) =>
      codecs !== first?.codecs || width !== first.width || height !== first.height,
  )
  return segments.slice(0, end < 0 ? segments.length : end)
}

/**
 * Combines segments into one fragmented MP4 whose times begin at 0 and skip gaps; a `prft` box before each fragment has its
 * capture time. Begins with the keyframe at or before `fromUs`. Files that are deleted meanwhile are omitted.
 */
export async function* playRecording(
  archive: Pick<RemoteArchive, 'read'>,
  segments: readonly RecordedSegment[],
  range: TimeRange,
): AsyncGenerator<Uint8Array> {
  let sequence = 0
  let previous: PlacedFragment | undefined

  /** `end` is the decode time of the next fragment, to which the last picture is extended. */
  function relocate({ fragment, bytes, decodeTime }: PlacedFragment, end: number): Buffer {
    const first = fragment.samples[0]!
    sequence++
    relocateFragment(bytes, {
      sequence,
      shift: decodeTime - first.dts,
      extension: end - decodeTime - getDuration(fragment),
    })
    const mediaTime = decodeTime + first.pts - first.dts
    return Buffer.concat([createReferenceTimeBox(fragment.timeUs, mediaTime), bytes])
  }

  for await (const part of readParts(archive, segments, range)) {
    if (part instanceof Uint8Array) {
      yield part
      continue
    }
    if (previous) yield relocate(previous, part.decodeTime)
    previous = part
  }
  if (previous) yield relocate(previous, previous.decodeTime + getDuration(previous.fragment))
}

interface PlacedFragment {
  fragment: Fragment
  bytes: Buffer
  /** Of its first picture in the playback. */
  decodeTime: number
}

/** Yields the init segment, then the fragments as stored. Ends where another init segment would be necessary. */
async function* readParts(
  archive: Pick<RemoteArchive, 'read'>,
  segments: readonly RecordedSegment[],
  { fromUs, toUs }: TimeRange,
): AsyncGenerator<Uint8Array | PlacedFragment> {
  let init: Uint8Array | undefined
  let position = timelineStart
  for (const { path } of segments) {
    const content = await archive.read(path)
    if (!content) continue
    if (init && Buffer.compare(init, content.init) !== 0) return
    if (!init) yield content.init
    init = content.init
    const file = await open(path).catch(() => undefined)
    if (!file) continue
    try {
      for (const fragment of selectFragments(content, fromUs, toUs)) {
        const { decodeTime, after } = placeFragment(position, content.info, fragment)
        position = after
        const bytes = Buffer.alloc(fragment.length)
        const { bytesRead } = await file.read(bytes, 0, bytes.length, fragment.offset)
        if (bytesRead < bytes.length) return
        yield { fragment, bytes, decodeTime }
      }
    } finally {
      await file.close()
    }
  }
}

/** Yields the metadata of the same playback as JSON lines. */
export async function* readMetadata(
  archive: Pick<RemoteArchive, 'metadata'>,
  segments: readonly RecordedSegment[],
  { fromUs, toUs }: TimeRange,
): AsyncGenerator<Uint8Array> {
  let position = timelineStart
  for (const segment of segments) {
    const { text, after } = await archive.metadata(segment, fromUs, toUs, position)
    position = after
    if (text) yield Buffer.from(text)
  }
}
