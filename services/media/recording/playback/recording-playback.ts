import { open } from 'node:fs/promises'
import type { SegmentRow } from '../archive/recording-index.ts'
import type { RemoteArchive } from '../archive/remote-archive.ts'
import { relocateFragment } from '../format/fragment-samples.ts'
import { getDuration, placeFragment, selectFragments, timelineStart } from '../format/playback-timeline.ts'
import { createReferenceTimeBox, type Fragment } from '../format/segment-format.ts'

/** What a player needs to know beforehand. */
export interface RecordedSegment extends SegmentRow {
  path: string
}

export interface TimeRange {
  fromUs: number
  toUs: number
}

/** Those of the same picture size as the first; what follows on them has to be asked for anew. */
export function takeSameFormat(rows: readonly RecordedSegment[]): RecordedSegment[] {
  const [first] = rows
  const other = rows.findIndex(
    ({ codecs, width, height }) =>
      codecs !== first?.codecs || width !== first.width || height !== first.height,
  )
  return rows.slice(0, other < 0 ? rows.length : other)
}

/**
 * One fragmented MP4 of several files, whose times begin at 0 and pass over holes; a `prft` before each fragment says when
 * it was recorded. It begins with the keyframe at or before `fromUs`. Files that go meanwhile are left out.
 */
export async function* playRecording(
  archive: Pick<RemoteArchive, 'read'>,
  rows: readonly RecordedSegment[],
  asked: TimeRange,
): AsyncGenerator<Uint8Array> {
  let sequence = 0
  let before: Played | undefined
  const written = ({ fragment, bytes, at }: Played, end: number) => {
    const first = fragment.samples[0]!
    relocateFragment(bytes, {
      sequence: ++sequence,
      shift: at - first.dts,
      longer: end - at - getDuration(fragment),
    })
    return Buffer.concat([createReferenceTimeBox(fragment.timeUs, at + first.pts - first.dts), bytes])
  }
  for await (const part of partsOf(archive, rows, asked)) {
    if (part instanceof Uint8Array) {
      yield part
      continue
    }
    // How long its last picture is to be seen is known when the next one is.
    if (before) yield written(before, part.at)
    before = part
  }
  if (before) yield written(before, before.at + getDuration(before.fragment))
}

interface Played {
  fragment: Fragment
  bytes: Buffer
  /** Decoding time of its first picture in the playback. */
  at: number
}

/** The head, and then fragments as they lie on the disk. Ends where another head would have to follow. */
async function* partsOf(
  archive: Pick<RemoteArchive, 'read'>,
  rows: readonly RecordedSegment[],
  { fromUs, toUs }: TimeRange,
): AsyncGenerator<Uint8Array | Played> {
  let init: Uint8Array | undefined
  let placement = timelineStart
  for (const { path } of rows) {
    const content = await archive.read(path)
    if (!content) continue
    if (init && Buffer.compare(init, content.init) !== 0) return
    if (!init) yield content.init
    init = content.init
    const file = await open(path).catch(() => undefined)
    if (!file) continue
    try {
      for (const fragment of selectFragments(content, fromUs, toUs)) {
        const { at, after } = placeFragment(placement, content.info, fragment)
        placement = after
        const bytes = Buffer.alloc(fragment.length)
        const { bytesRead } = await file.read(bytes, 0, bytes.length, fragment.offset)
        if (bytesRead < bytes.length) return
        yield { fragment, bytes, at }
      }
    } finally {
      await file.close()
    }
  }
}

/** What was found in the pictures of the same playback, as lines of JSON. */
export async function* readMetadata(
  archive: Pick<RemoteArchive, 'metadata'>,
  rows: readonly RecordedSegment[],
  { fromUs, toUs }: TimeRange,
): AsyncGenerator<Uint8Array> {
  let placement = timelineStart
  for (const row of rows) {
    const { text, placement: after } = await archive.metadata(row, fromUs, toUs, placement)
    placement = after
    if (text) yield Buffer.from(text)
  }
}
