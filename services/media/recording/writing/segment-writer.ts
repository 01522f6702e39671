import { type FileHandle, open } from 'node:fs/promises'
import { writeAll } from '@eyrie/kit/durable-file'
import type { SoundTrack } from '../../sound/sound-track.ts'
import type { PlayableTrack } from '../../stream/sample-entry.ts'
import type { RemoteArchive } from '../archive/remote-archive.ts'
import type { MetadataEntry } from '../format/metadata-lines.ts'
import { createSegmentHeader, type SegmentInfo } from '../format/segment-format.ts'
import type { DiskQueue } from './disk-queue.ts'

export interface SegmentWriterOptions {
  archive: Pick<RemoteArchive, 'begin' | 'grow' | 'close'>
  queue: DiskQueue
  info: SegmentInfo
  track: PlayableTrack
  sound: SoundTrack | undefined
  beginUs: number
  /** Called once, when a write fails. Nothing more is written then. */
  onFailed(error: Error): void
}

/** A segment file that is being written through the disk queue, with its metadata file. */
export interface SegmentWriter {
  /**
   * Queues a fragment, which may be empty, with metadata of pictures. Returns false if the queue is full because the disk is too
   * slow.
   */
  append(fragment: Uint8Array, endUs: number, entries: readonly MetadataEntry[]): boolean
  close(): void
}

/** Longest time between two syncs. A power failure may lose that much; a crash of the process loses nothing written. */
const SYNC_INTERVAL_MS = 10_000

export function openSegmentWriter(options: SegmentWriterOptions): SegmentWriter {
  const { archive, queue, onFailed } = options
  const header = createSegmentHeader(options.info, options.track, options.sound)
  let id = 0
  let path = ''
  let segment: FileHandle | undefined
  let metadata: FileHandle | undefined
  let segmentBytes = 0
  let metadataBytes = 0
  let endUs = options.beginUs
  let syncedAt = performance.now()
  let hasFailed = false

  /** Wraps queued work: after a failure, the file is closed at its last complete fragment and further work is skipped. */
  const guard = (work: () => Promise<void>) => async () => {
    if (hasFailed) return
    try {
      await work()
    } catch (error) {
      hasFailed = true
      onFailed(error as Error)
      await finish().catch(() => {})
    }
  }

  async function begin() {
    const segmentFile = await archive.begin(options.info, options.beginUs)
    id = segmentFile.id
    path = segmentFile.path
    segment = await open(path, 'wx', 0o640)
    await writeAll(segment, header, 0)
  }

  async function write(fragment: Uint8Array, lines: string) {
    if (fragment.length > 0) {
      const offset = segmentBytes || header.length
      await writeAll(segment!, fragment, offset)
      segmentBytes = offset + fragment.length
    }
    if (lines === '') return
    metadata ??= await open(path.replace(/mp4$/, 'jsonl'), 'a', 0o640)
    await metadata.appendFile(lines)
    metadataBytes += Buffer.byteLength(lines)
  }

  async function finish() {
    if (segmentBytes > 0) {
      await segment?.truncate(segmentBytes)
      await segment?.datasync()
    }
    await segment?.close()
    await metadata?.close()
    if (id > 0) await archive.close(id, path, endUs, segmentBytes > 0 ? segmentBytes + metadataBytes : 0)
    segment = undefined
  }

  async function syncIfDue() {
    if (performance.now() - syncedAt < SYNC_INTERVAL_MS) return
    syncedAt = performance.now()
    await segment?.datasync()
  }

  queue.enqueue(0, guard(begin))
  return {
    append(fragment, fragmentEndUs, entries) {
      const lines = entries.map(({ line }) => `${line}\n`).join('')
      const events = entries.flatMap(({ event }) => event ?? [])
      return queue.enqueue(
        fragment.length + lines.length,
        guard(async () => {
          await write(fragment, lines)
          endUs = fragmentEndUs
          void archive.grow(id, endUs, segmentBytes + metadataBytes, events).catch(() => {})
          await syncIfDue()
        }),
      )
    },
    close: () => void queue.enqueue(0, guard(finish)),
  }
}
