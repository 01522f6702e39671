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
  about: SegmentInfo
  track: PlayableTrack
  sound: SoundTrack | undefined
  beginUs: number
  /** Told once, when the disk does not take what is to be written; nothing more is written then. */
  onFailed(error: Error): void
}

/** A file that is being written, each fragment in one go. */
export interface SegmentWriter {
  /**
   * False where the disk is so slow that there is no room for it. Notes say what was found in pictures; they may come alone,
   * with no bytes of a fragment.
   */
  append(fragment: Uint8Array, endUs: number, notes: readonly MetadataEntry[]): boolean
  close(): void
}

/** What is not synced by then may be lost where the power is; a killed process loses nothing that was written. */
const SYNC_MS = 10_000

export function openSegmentWriter(options: SegmentWriterOptions): SegmentWriter {
  const { archive, queue, onFailed } = options
  const head = createSegmentHeader(options.about, options.track, options.sound)
  let id = 0
  let path = ''
  let pictures: FileHandle | undefined
  let metadata: FileHandle | undefined
  let [bytes, lineBytes, endUs] = [0, 0, options.beginUs]
  let syncedAt = performance.now()
  let failed = false

  /** What fails takes back what it has written by half. */
  const attempt = (work: () => Promise<void>) => async () => {
    if (failed) return
    try {
      await work()
    } catch (error) {
      failed = true
      onFailed(error as Error)
      await finish().catch(() => {})
    }
  }

  async function begin() {
    const begun = await archive.begin(options.about, options.beginUs)
    id = begun.id
    path = begun.path
    pictures = await open(path, 'wx', 0o640)
    await writeAll(pictures, head, 0)
  }

  async function finish() {
    if (bytes > 0) await pictures?.truncate(bytes)
    if (bytes > 0) await pictures?.datasync()
    await pictures?.close()
    await metadata?.close()
    if (id > 0) await archive.close(id, path, endUs, bytes > 0 ? bytes + lineBytes : 0)
    pictures = undefined
  }

  async function write(fragment: Uint8Array, lines: string) {
    if (fragment.length > 0) {
      const at = bytes || head.length
      await writeAll(pictures!, fragment, at)
      bytes = at + fragment.length
    }
    if (lines === '') return
    metadata ??= await open(path.replace(/mp4$/, 'jsonl'), 'a', 0o640)
    await metadata.appendFile(lines)
    lineBytes += Buffer.byteLength(lines)
  }

  queue.enqueue(0, attempt(begin))
  return {
    append(fragment, until, notes) {
      const lines = notes.map(({ line }) => `${line}\n`).join('')
      const events = notes.flatMap(({ event }) => event ?? [])
      return queue.enqueue(
        fragment.length + lines.length,
        attempt(async () => {
          await write(fragment, lines)
          endUs = until
          void archive.grow(id, endUs, bytes + lineBytes, events).catch(() => {})
          if (performance.now() - syncedAt < SYNC_MS) return
          syncedAt = performance.now()
          await pictures?.datasync()
        }),
      )
    },
    close: () => void queue.enqueue(0, attempt(finish)),
  }
}
