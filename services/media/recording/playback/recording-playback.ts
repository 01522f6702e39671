import { open } from 'node:fs/promises'
import type { RecordedSegment } from '../archive/archive-queries.ts'
import type { RemoteArchive } from '../archive/remote-archive.ts'
import { relocateFragment } from '../format/fragment-samples.ts'
import {
  getDuration,
  placeFragment,
  selectFragments,
  TIMELINE_START,
} from '../format/playback-timeline.ts'
import { createReferenceTimeBox, type Fragment } from '../format/segment-format.ts'

/** In µs since 1970; `toUs` is exclusive. */
export interface TimeRange {
  fromUs: number
  toUs: number
}

/**
 * Returns the segments up to the first change of the codecs or the picture size. They can
 * be played as one file.
 */
export function takeSameFormat(segments: readonly RecordedSegment[]): RecordedSegment[] {
  const [first] = segments
  const otherIndex = segments.findIndex(
    ({ codecs, width, height }) =>
      codecs !== first?.codecs || width !== first.width || height !== first.height,
  )
  return otherIndex < 0 ? [...segments] : segments.slice(0, otherIndex)
}

/**
 * Joins segments into one fragmented MP4, which begins with the keyframe at or before `fromUs`.
 * Times begin at 0 and do not include gaps between recordings; a `prft` box before each fragment
 * has the capture time. Files that are deleted meanwhile are omitted.
 */
export async function* playRecording(
  archive: Pick<RemoteArchive, 'readSegment'>,
  segments: readonly RecordedSegment[],
  range: TimeRange,
): AsyncGenerator<Uint8Array> {
  let sequence = 0
  /** Sent when the next fragment is known, because its last picture lasts until then. */
  let previous: PlacedFragment | undefined

  for await (const content of readContent(archive, segments, range)) {
    const isInitSegment = content instanceof Uint8Array
    if (isInitSegment) {
      yield content
      continue
    }
    if (previous) yield relocate(previous, ++sequence, content.decodeTime)
    previous = content
  }

  if (previous) {
    const end = previous.decodeTime + getDuration(previous.fragment)
    yield relocate(previous, ++sequence, end)
  }
}

/** A stored fragment and its place in the playback. */
interface PlacedFragment {
  fragment: Fragment
  bytes: Buffer
  /** Decode time of the first picture in the playback, in 90 kHz ticks. */
  decodeTime: number
}

/**
 * Rewrites a fragment for the playback, and adds its capture time. Its last picture lasts until
 * the next fragment at `nextDecodeTime`.
 */
function relocate(
  { fragment, bytes, decodeTime }: PlacedFragment,
  sequence: number,
  nextDecodeTime: number,
): Buffer {
  const first = fragment.pictures[0]!
  relocateFragment(bytes, {
    sequence,
    shift: decodeTime - first.dts,
    extension: nextDecodeTime - decodeTime - getDuration(fragment),
  })
  const mediaTime = decodeTime + first.pts - first.dts
  return Buffer.concat([createReferenceTimeBox(fragment.timeUs, mediaTime), bytes])
}

/**
 * Yields the init segment, then the fragments as stored. Ends before a segment with
 * another init segment.
 */
async function* readContent(
  archive: Pick<RemoteArchive, 'readSegment'>,
  segments: readonly RecordedSegment[],
  { fromUs, toUs }: TimeRange,
): AsyncGenerator<Uint8Array | PlacedFragment> {
  let init: Uint8Array | undefined
  let position = TIMELINE_START
  for (const { path } of segments) {
    const content = await archive.readSegment(path)
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

/** Yields the analysis results of the same playback as JSON lines. */
export async function* readMetadata(
  archive: Pick<RemoteArchive, 'readMetadata'>,
  segments: readonly RecordedSegment[],
  { fromUs, toUs }: TimeRange,
  channels: readonly number[] | undefined,
): AsyncGenerator<Uint8Array> {
  let position = TIMELINE_START
  for (const segment of segments) {
    const { text, after } = await archive.readMetadata({
      segment,
      fromUs,
      toUs,
      position,
      channels,
    })
    position = after
    if (text) yield Buffer.from(text)
  }
}
