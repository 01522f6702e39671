import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { formatBytes } from '@eyrie/contract/format-bytes'
import { inArray } from 'drizzle-orm'
import type { Database } from '../db/database.ts'
import { image, picture } from '../db/schema/index.ts'
import type { JobContext } from './job.ts'

/** Younger files may belong to a record that is being stored. */
const MIN_AGE_MS = 86_400_000
const BATCH = 1000

export interface PictureFolders {
  /** Folder of the pictures of notifications, in sub-folders. */
  pictures: string
  /** Folder of the uploaded images. */
  images: string
  now(): number
}

/** The job `pictures`: deletes files that no record refers to, such as those of a transaction that failed after the file was written. */
export async function cleanPictures(
  { database, signal }: Pick<JobContext, 'database' | 'signal'>,
  { pictures, images, now }: PictureFolders,
): Promise<string> {
  let count = 0
  let bytes = 0

  async function clean(folder: string, findUsed: (names: string[]) => Promise<Set<string>>): Promise<void> {
    const names = await listFiles(folder)
    for (let i = 0; i < names.length; i += BATCH) {
      signal.throwIfAborted()
      const batch = names.slice(i, i + BATCH)
      const used = await findUsed(batch)
      for (const name of batch) {
        if (used.has(name)) continue
        const path = join(folder, name)
        const status = await lstat(path).catch(() => undefined)
        if (!status || now() - status.mtimeMs < MIN_AGE_MS) continue
        await rm(path, { force: true })
        count += 1
        bytes += status.size
      }
    }
  }

  for (const folder of await listFolders(pictures))
    await clean(join(pictures, folder), names => findUsedPictures(database, names))
  await clean(images, names => findUsedImages(database, names))
  return count === 0 ? 'no unused files' : `deleted ${count} unused files with ${formatBytes(bytes)}`
}

const PICTURE_FILE = /^([0-9a-f]{64})\.jpg$/

async function findUsedPictures(database: Database, names: string[]): Promise<Set<string>> {
  const hashes = names.flatMap(name => PICTURE_FILE.exec(name)?.[1] ?? [])
  if (hashes.length === 0) return new Set()
  const rows = await database.system('maintenance', tx =>
    tx.select({ sha256: picture.sha256 }).from(picture).where(inArray(picture.sha256, hashes)),
  )
  return new Set(rows.map(({ sha256 }) => `${sha256}.jpg`))
}

async function findUsedImages(database: Database, names: string[]): Promise<Set<string>> {
  const rows = await database.system('maintenance', tx =>
    tx.select({ path: image.path }).from(image).where(inArray(image.path, names)),
  )
  return new Set(rows.map(({ path }) => path))
}

const listFiles = async (folder: string) =>
  (await readEntries(folder)).filter(entry => entry.isFile()).map(({ name }) => name)
const listFolders = async (folder: string) =>
  (await readEntries(folder)).filter(entry => entry.isDirectory()).map(({ name }) => name)

/** A folder that does not exist is empty. */
const readEntries = (folder: string) =>
  readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
