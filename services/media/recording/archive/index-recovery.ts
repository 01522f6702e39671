import { existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ticksToUs } from '../../runtime/stream-time.ts'
import { parseEvents, toMetadataPath } from '../format/metadata-lines.ts'
import { getDuration } from '../format/playback-timeline.ts'
import { readSegment } from '../format/segment-format.ts'
import { isLockedError, openRecordingIndex, type RecordingIndex } from './recording-index.ts'

// Brings the recording index and the segment files into agreement after a crash. The files are
// the truth: each contains everything that the index stores about it.

/**
 * Opens the index. Replaces a damaged index by an empty one. Throws if another process has locked
 * it (`isLockedError`).
 */
export function openOrRecreateIndex(path: string): RecordingIndex {
  try {
    return openRecordingIndex(path)
  } catch (error) {
    if (isLockedError(error)) throw error
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
