import type { Dirent } from 'node:fs'
import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { formatBytes } from '@eyrie/contract/format-bytes'
import { inArray } from 'drizzle-orm'
import type { Database } from '../db/database.ts'
import { splitRows } from '../db/rows.ts'
import { image, picture } from '../db/schema/index.ts'
import type { JobContext } from './job.ts'

/** A younger file is not deleted, because its record may be about to be stored. */
const MIN_AGE_MS = 86_400_000
const PICTURE_FILE = /^([0-9a-f]{64})\.jpg$/

export interface PictureFolders {
  /** Folder of the pictures of notifications, in sub-folders. */
  pictures: string
  /** Folder of the uploaded images. */
  images: string
  /** Epoch ms. */
  now(): number
}

/**
 * The job `pictures`: deletes files that no record refers to. Such a file remains if a transaction
 * fails after the file was written. Returns the message of the job.
 */
export async function cleanPictures(
  { database, signal }: Pick<JobContext, 'database' | 'signal'>,
  { pictures, images, now }: PictureFolders,
): Promise<string> {
  let deletedFiles = 0
  let deletedBytes = 0
  for await (const { folder, names, findUsed } of listBatches(pictures, images)) {
    signal.throwIfAborted()
    const usedNames = await findUsed(database, names)
    for (const name of names.filter(name => !usedNames.has(name))) {
      const path = join(folder, name)
      // The file may have been deleted in the meantime.
      const status = await lstat(path).catch(() => undefined)
      if (!status || now() - status.mtimeMs < MIN_AGE_MS) continue
      await rm(path, { force: true })
      deletedFiles += 1
      deletedBytes += status.size
    }
  }

  if (deletedFiles === 0) return 'no unused files'
  return `deleted ${deletedFiles} unused files with ${formatBytes(deletedBytes)}`
}

/** Files of a folder, which are looked up in the database together. */
interface FileBatch {
  folder: string
  names: string[]
  /** Returns which of the names belong to files that records refer to. */
  findUsed(database: Database, names: string[]): Promise<Set<string>>
}

/** Lists the files of both folders. */
async function* listBatches(pictures: string, images: string): AsyncGenerator<FileBatch> {
  for (const subFolder of await listFolders(pictures)) {
    const folder = join(pictures, subFolder)
    for (const names of splitRows(await listFiles(folder))) {
      yield { folder, names, findUsed: findUsedPictures }
    }
  }
  for (const names of splitRows(await listFiles(images))) {
    yield { folder: images, names, findUsed: findUsedImages }
  }
}

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

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readEntries(folder)
  return entries.filter(entry => entry.isFile()).map(({ name }) => name)
}

async function listFolders(folder: string): Promise<string[]> {
  const entries = await readEntries(folder)
  return entries.filter(entry => entry.isDirectory()).map(({ name }) => name)
}

/** Returns the entries of a folder. A folder that does not exist has none. */
const readEntries = (folder: string): Promise<Dirent[]> =>
  readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
