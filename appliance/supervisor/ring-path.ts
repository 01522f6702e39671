import { randomBytes } from 'node:crypto'
import { lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The names that this file chooses. Nothing else is removed, even if the record is damaged. */
const RING_PATH = /^\/dev\/shm\/eyrie-[0-9a-f]{32}$/

/**
 * Chooses the path of the folder with the decoded frames. Every start has another path: other users
 * of the machine can list /dev/shm, and could create a folder whose name they know. Removes the
 * folder of an earlier run that was killed.
 */
export function chooseRingPath(data: string): string {
  const record = join(data, 'ring-path')
  const [owner, previous = ''] = readRecord(record)
  // In a copy of a data folder, the record names the folder of the original, which may be running.
  if (owner === data) removeRingFolder(previous)
  const path = `/dev/shm/eyrie-${randomBytes(16).toString('hex')}`
  writeFileSync(record, `${data}\n${path}\n`, { mode: 0o600 })
  return path
}

/** Returns the data folder and the path of the previous start; nothing before the first start. */
function readRecord(record: string): string[] {
  try {
    return readFileSync(record, 'utf8').split('\n')
  } catch {
    return []
  }
}

/** Removes a folder whose path this file has chosen. */
export function removeRingFolder(path: string): void {
  if (!RING_PATH.test(path)) return
  const status = lstatSync(path, { throwIfNoEntry: false })
  if (status?.isDirectory() && status.uid === process.geteuid?.()) {
    rmSync(path, { recursive: true, force: true })
  }
}
