import { existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ticksToUs } from '../../runtime/stream-time.ts'
import { parseEvents, toMetadataPath } from '../format/metadata-lines.ts'
import { getDuration } from '../format/playback-timeline.ts'
import { readSegment } from '../format/segment-format.ts'
import {
  isDiskFullError,
  isLockedError,
  openRecordingIndex,
  type RecordingIndex,
} from './recording-index.ts'
import { measureFileSystem } from './retention.ts'

// Brings the recording index and the segment files into agreement after a crash. The files are
// the truth: each contains everything that the index stores about it.

/** Disk space without which the index is not opened. Its log and shared memory need less. */
const MIN_FREE_BYTES = 1 << 20

/**
 * Deletes the oldest files if the disk is so full that the index, which retention needs, cannot be
 * opened. Throws `ENOSPC` if other files fill the disk: SQLite would crash the process if there is
 * no space for the shared memory.
 */
export function makeRoomForIndex(folder: string): void {
  const { free } = measureFileSystem(folder)
  let missingBytes = MIN_FREE_BYTES - free
  if (missingBytes <= 0) return

  for (const file of listSegmentFiles(folder).sort(compareTimes)) {
    missingBytes -= tryDelete(join(folder, file))
    if (missingBytes <= 0) return
  }
  const message = `ENOSPC: the disk of ${folder} is full and no recording can be deleted`
  throw Object.assign(new Error(message), { code: 'ENOSPC' })
}

/** Deletes a segment and its metadata. Returns its size, or 0 if it cannot be deleted. */
function tryDelete(path: string): number {
  try {
    const { size } = statSync(path)
    rmSync(toMetadataPath(path), { force: true })
    rmSync(path)
    return size
  } catch {
    return 0
  }
}

/**
 * Opens the index. Replaces a damaged index by an empty one. Throws if another process has locked
 * it (`isLockedError`), or if the disk is full (`isDiskFullError`).
 */
export function openOrRecreateIndex(path: string): RecordingIndex {
  try {
    return openRecordingIndex(path)
  } catch (error) {
    if (isLockedError(error) || isDiskFullError(error)) throw error
    for (const ending of ['', '-wal', '-shm']) {
      rmSync(path + ending, { force: true, recursive: true })
    }
    return openRecordingIndex(path)
  }
}

/**
 * Returns the files that are missing in the index or were open during a crash, for `indexFile`.
 * Removes the index rows of open files and of missing files.
 */
export function findUnindexedFiles(folder: string, index: RecordingIndex): string[] {
  const indexed = index.listFiles()
  const existing = new Set(listSegmentFiles(folder))

  for (const { id, file, open } of indexed.values()) {
    if (open === 1 || !existing.has(file)) index.remove(id)
  }

  const isIndexedAndClosed = (file: string) => indexed.get(file)?.open === 0
  return [...existing].filter(file => !isIndexedAndClosed(file)).sort(compareTimes)
}

/**
 * Compares files by the times in their names: retention needs the order in which they were written.
 */
function compareTimes(a: string, b: string): number {
  const [nameA, nameB] = [basename(a), basename(b)]
  return nameA < nameB ? -1 : Number(nameA > nameB)
}

/**
 * Returns the segment files on disk, such as `7/2026-01-31T12-00-00.000Z.mp4`. Each source has a
 * folder named by its ID.
 */
function listSegmentFiles(folder: string): string[] {
  const files: string[] = []
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const isSourceFolder = entry.isDirectory() && /^\d+$/.test(entry.name)
    if (!isSourceFolder) continue

    const names = readdirSync(join(folder, entry.name)).filter(name => name.endsWith('.mp4'))
    files.push(...names.map(name => `${entry.name}/${name}`))
  }
  return files
}

/**
 * Adds a file to the index, truncated after its last complete fragment. Deletes a file without
 * pictures.
 */
export function indexFile(folder: string, file: string, index: RecordingIndex): void {
  const path = join(folder, file)
  const content = readSegment(path)
  const first = content?.fragments[0]
  const last = content?.fragments.at(-1)
  if (!content || !first || !last) {
    rmSync(toMetadataPath(path), { force: true })
    rmSync(path, { force: true })
    return
  }
  if (statSync(path).size > content.bytes) truncateSync(path, content.bytes)

  const metadataPath = toMetadataPath(path)
  const hasMetadata = existsSync(metadataPath)
  const metadataBytes = hasMetadata ? statSync(metadataPath).size : 0
  const { source, epoch, codecs, width, height } = content.info
  const id = index.insert({
    source,
    file,
    epoch,
    codecs,
    width,
    height,
    beginUs: first.timeUs,
    endUs: last.timeUs + Math.round(ticksToUs(getDuration(last))),
    bytes: content.bytes + metadataBytes,
    open: 0,
  })

  const events = hasMetadata ? parseEvents(readFileSync(metadataPath, 'utf8')) : []
  for (const event of events) index.addEvent(id, event)
}
