import { type FileHandle, open } from 'node:fs/promises'
import { writeAll } from '@eyrie/kit/durable-file'
import type { SoundTrack } from '../../sound/sound-track.ts'
import type { PlayableTrack } from '../../stream/sample-entry.ts'
import type { RemoteArchive } from '../archive/remote-archive.ts'
import { type MetadataEntry, toMetadataPath } from '../format/metadata-lines.ts'
import { createSegmentHeader, type SegmentInfo } from '../format/segment-format.ts'
import type { DiskQueue } from './disk-queue.ts'

/**
 * Writes one segment of a recording: an MP4 file, and a file next to it with the analysis results
 * (metadata). All writes go through the disk queue.
 */
export interface SegmentWriter {
  /**
   * Queues a fragment, which may be empty, and metadata. Returns false if the queue is full because
   * the disk is too slow.
   */
  append(fragment: Uint8Array, endUs: number, entries: readonly MetadataEntry[]): boolean
  close(): void
}

export interface SegmentWriterOptions {
  archive: Pick<RemoteArchive, 'beginSegment' | 'growSegment' | 'closeSegment'>
  queue: DiskQueue
  info: SegmentInfo
  track: PlayableTrack
  sound: SoundTrack | undefined
  beginUs: number
  /** Called once, when a write has failed. Nothing more is written afterwards. */
  onFailed(error: Error): void
}

/**
 * Time between two syncs to the disk, and so the maximum loss in a power failure. A crash of the
 * process loses nothing.
 */
const SYNC_INTERVAL_MS = 10_000

export function openSegmentWriter(options: SegmentWriterOptions): SegmentWriter {
  const { archive, queue, onFailed } = options
  const header = createSegmentHeader(options.info, options.track, options.sound)
  /**
   * The entry in the index. Like the file, it is set by `begin`, which precedes all
   * other work in the queue.
   */
  let indexed: { id: number; path: string } | undefined
  let segment: FileHandle | undefined
  /** The file of the metadata, which is created when there is any. */
  let metadata: FileHandle | undefined
  /** Number of bytes up to the end of the last complete fragment; 0 before the first one. */
  let segmentBytes = 0
  let metadataBytes = 0
  let endUs = options.beginUs
  let syncedAt = performance.now()
  let hasFailed = false

  /**
   * Queues work. If the work fails, the segment is closed after its last complete fragment, and all
   * later work is skipped.
   */
  function enqueue(bytes: number, work: () => Promise<void>): boolean {
    return queue.enqueue(bytes, async () => {
      if (hasFailed) return
      try {
        await work()
      } catch (error) {
        hasFailed = true
        onFailed(error as Error)
        // The file may be impossible to close for the same reason, which has been reported.
        await finish().catch(() => {})
      }
    })
  }

  async function begin() {
    indexed = await archive.beginSegment(options.info, options.beginUs)
    segment = await open(indexed.path, 'wx', 0o640)
    await writeAll(segment, header, 0)
  }

  async function write(fragment: Uint8Array, lines: string) {
    if (fragment.length > 0) {
      const offset = segmentBytes || header.length
      await writeAll(segment!, fragment, offset)
      segmentBytes = offset + fragment.length
    }
    if (lines === '') return

    metadata ??= await open(toMetadataPath(indexed!.path), 'a', 0o640)
    await metadata.appendFile(lines)
    metadataBytes += Buffer.byteLength(lines)
  }

  /** Cuts off an incomplete fragment, closes both files and completes the entry in the index. */
  async function finish() {
    if (segmentBytes > 0) {
      await segment?.truncate(segmentBytes)
      await segment?.datasync()
    }
    await segment?.close()
    await metadata?.close()
    if (indexed) {
      // The archive deletes a segment without a fragment.
      const bytes = segmentBytes > 0 ? segmentBytes + metadataBytes : 0
      await archive.closeSegment({ ...indexed, endUs, bytes })
    }
    segment = undefined
  }

  async function syncIfDue() {
    if (performance.now() - syncedAt < SYNC_INTERVAL_MS) return
    syncedAt = performance.now()
    await segment?.datasync()
  }

  enqueue(0, begin)

  return {
    append(fragment, fragmentEndUs, entries) {
      const lines = entries.map(({ line }) => `${line}\n`).join('')
      const events = entries.flatMap(({ event }) => event ?? [])
      return enqueue(fragment.length + lines.length, async () => {
        await write(fragment, lines)
        endUs = fragmentEndUs
        const bytes = segmentBytes + metadataBytes
        // If this fails, the index lacks the events. They remain in the metadata file, from which
        // the index can be rebuilt.
        archive.growSegment(indexed!.id, { endUs, bytes }, events).catch(() => {})
        await syncIfDue()
      })
    },
    close: () => void enqueue(0, finish),
  }
}
