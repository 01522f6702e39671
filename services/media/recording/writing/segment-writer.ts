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
  const { archive, queue, info, onFailed } = options
  const header = createSegmentHeader(info, options.track, options.sound)
  /** The entry in the index. It is set by `begin`, which precedes all other work in the queue. */
  let indexed: { id: number; path: string } | undefined
  /** Set by `begin` as well. */
  let files: SegmentFiles | undefined
  let endUs = options.beginUs
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
    indexed = await archive.beginSegment(info, options.beginUs)
    files = await openSegmentFiles(indexed.path)
    await files.writeHeader(header)
  }

  /** Closes the files and completes the entry in the index. */
  async function finish() {
    await files?.close()
    if (!indexed) return
    // The archive deletes a segment without a fragment.
    const bytes = files?.hasFragment() ? files.countBytes() : 0
    await archive.closeSegment({ ...indexed, endUs, bytes })
  }

  enqueue(0, begin)

  return {
    append(fragment, fragmentEndUs, entries) {
      const lines = entries.map(({ line }) => `${line}\n`).join('')
      const events = entries.flatMap(({ event }) => event ?? [])
      return enqueue(fragment.length + lines.length, async () => {
        const { writeFragment, writeMetadata, countBytes, syncIfDue } = files!
        if (fragment.length > 0) await writeFragment(fragment)
        if (lines !== '') await writeMetadata(lines)
        endUs = fragmentEndUs
        // If this fails, the index lacks the events. They remain in the metadata file, from which
        // the index can be rebuilt.
        archive.growSegment(indexed!.id, { endUs, bytes: countBytes() }, events).catch(() => {})
        await syncIfDue()
      })
    },
    close: () => void enqueue(0, finish),
  }
}

/** The open files of a segment. */
interface SegmentFiles {
  /** Must be called first. */
  writeHeader(header: Uint8Array): Promise<void>
  writeFragment(fragment: Uint8Array): Promise<void>
  writeMetadata(lines: string): Promise<void>
  /** Returns whether a fragment was written completely. */
  hasFragment(): boolean
  /** Returns the size of both files in bytes, up to the end of the last complete fragment. */
  countBytes(): number
  syncIfDue(): Promise<void>
  /** Cuts off an incomplete fragment, and closes both files. */
  close(): Promise<void>
}

/** Creates the MP4 file of a segment. */
async function openSegmentFiles(path: string): Promise<SegmentFiles> {
  const segment = await open(path, 'wx', 0o640)
  /** Created when there is metadata to write. */
  let metadata: FileHandle | undefined
  let headerBytes = 0
  /** Number of bytes up to the end of the last complete fragment; 0 before the first one. */
  let segmentBytes = 0
  let metadataBytes = 0
  let syncedAt = performance.now()

  return {
    async writeHeader(header) {
      await writeAll(segment, header, 0)
      headerBytes = header.length
    },

    async writeFragment(fragment) {
      const offset = segmentBytes || headerBytes
      await writeAll(segment, fragment, offset)
      segmentBytes = offset + fragment.length
    },

    async writeMetadata(lines) {
      metadata ??= await open(toMetadataPath(path), 'a', 0o640)
      await metadata.appendFile(lines)
      metadataBytes += Buffer.byteLength(lines)
    },

    hasFragment: () => segmentBytes > 0,
    countBytes: () => segmentBytes + metadataBytes,

    async syncIfDue() {
      if (performance.now() - syncedAt < SYNC_INTERVAL_MS) return
      syncedAt = performance.now()
      await segment.datasync()
    },

    async close() {
      if (segmentBytes > 0) {
        await segment.truncate(segmentBytes)
        await segment.datasync()
      }
      await segment.close()
      await metadata?.close()
    },
  }
}
