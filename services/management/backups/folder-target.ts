import { createReadStream } from 'node:fs'
import { access, constants, lstat, open, readdir, rename, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { formatBytes } from '@eyrie/contract/format-bytes'
import { syncFolder } from '@eyrie/kit'
import { type BackupTarget, parseBackupTime } from './backup-target.ts'

/** Extension of files that are being written. Such a file remains if the process crashes. */
const UNFINISHED = '.part'

/** Stores backups in a folder, such as that of a network drive. */
export function createFolderTarget(folder: string): BackupTarget {
  return {
    async list() {
      await assertUsable(folder)
      const names = (await readdir(folder))
        .filter(name => parseBackupTime(name) !== undefined)
        .sort()
      const describe = async (name: string) => {
        const { size } = await lstat(join(folder, name))
        return { name, bytes: size }
      }
      return Promise.all(names.map(describe))
    },

    async assertSpace(bytes) {
      await assertUsable(folder)
      await removeUnfinished(folder)
      const { bavail, bsize } = await statfs(folder)
      const freeBytes = bavail * bsize
      if (freeBytes < bytes) throw createSpaceError(folder, bytes, freeBytes)
    },

    async store(name, path, signal) {
      const unfinished = join(folder, `${name}${UNFINISHED}`)
      try {
        const file = await open(unfinished, 'wx', 0o600)
        await pipeline(createReadStream(path), file.createWriteStream({ flush: true }), { signal })
        await rename(unfinished, join(folder, name))
        await syncFolder(folder)
      } catch (error) {
        // The next run deletes the file if this fails too.
        await rm(unfinished, { force: true }).catch(() => {})
        throw explain(error, folder)
      }
    },

    async remove(name) {
      await rm(join(folder, name), { force: true })
    },
  }
}

/** Throws an `Error` if files of the folder cannot be read and written. */
async function assertUsable(folder: string): Promise<void> {
  try {
    // The slash makes a file fail with ENOTDIR.
    await access(`${folder}/`, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw explain(error, folder)
  }
}

/** Deletes the files that earlier runs have not finished. */
async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.endsWith(UNFINISHED)) continue
    const isBackup = parseBackupTime(name.slice(0, -UNFINISHED.length)) !== undefined
    if (isBackup) await rm(join(folder, name), { force: true })
  }
}

const createSpaceError = (folder: string, bytes: number, freeBytes: number) =>
  new Error(
    `the backup needs about ${formatBytes(bytes)}, and ${folder} has only ${formatBytes(freeBytes)} left: ` +
      'free some space, lower backup_keep, or choose another folder',
  )

/** What is wrong and what to do, by the code of an error of the file system. */
const REMEDIES: Record<string, (folder: string) => string> = {
  ENOENT: folder => `${folder} does not exist: create it, or mount its disk`,
  ENOTDIR: folder => `${folder} is not a folder: set backup_folder to one`,
  EACCES: folder =>
    `${folder} cannot be written: give it to the user that runs management (eyrie-management if root starts Eyrie)`,
  EROFS: folder => `${folder} is on a read-only file system: mount it for writing`,
  ENOSPC: folder =>
    `the disk of ${folder} is full: free some space, lower backup_keep, or choose another folder`,
  EDQUOT: folder => `the disk quota of ${folder} is exceeded: raise it, or lower backup_keep`,
}

/** Returns an error that says what to do. */
function explain(error: unknown, folder: string): Error {
  const { code = '', message } = error as NodeJS.ErrnoException
  const remedy = REMEDIES[code]?.(folder)
  return remedy
    ? new Error(remedy, { cause: error })
    : new Error(`${folder}: ${message}`, { cause: error })
}
