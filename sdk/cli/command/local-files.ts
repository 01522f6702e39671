import { mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/**
 * Reads a file named on the command line. Rejects with an `Error` that names the
 * file and the reason.
 */
export function readLocalFile(path: string): Promise<Buffer> {
  return readFile(path).catch((cause: NodeJS.ErrnoException) => {
    throw createReadError(path, cause)
  })
}

/** Returns an `Error` that names the file and the reason why it cannot be read. */
export function createReadError(path: string, cause: NodeJS.ErrnoException): Error {
  const problem = cause.code === 'ENOENT' ? 'does not exist' : `cannot be read: ${cause.message}`
  return new Error(`${path} ${problem}`, { cause })
}

/**
 * Writes a file named on the command line. A regular file has the permissions `mode` afterwards,
 * even if it existed. Rejects with an `Error` that names the file and the reason.
 */
export function writeLocalFile(
  path: string,
  content: string | Uint8Array,
  mode?: number,
): Promise<void> {
  return writeContent(path, content, mode).catch(cause => {
    throw createWriteError(path, cause)
  })
}

/** Returns an `Error` that names the file and the reason why it cannot be written. */
export function createWriteError(path: string, cause: NodeJS.ErrnoException): Error {
  const reason = cause.code === 'ENOENT' ? 'its folder does not exist' : cause.message
  return new Error(`${path} cannot be written: ${reason}`, { cause })
}

async function writeContent(
  path: string,
  content: string | Uint8Array,
  mode: number | undefined,
): Promise<void> {
  const file = await open(path, 'w', mode)
  try {
    // The mode above applies only to a new file. A device such as /dev/null keeps its own.
    if (mode !== undefined && (await file.stat()).isFile()) await file.chmod(mode)
    await file.writeFile(content)
  } finally {
    await file.close()
  }
}

/**
 * Creates a folder named on the command line, and the folders above it, unless they exist. New ones
 * have the permissions `mode`. Rejects with an `Error` that names the folder and the reason.
 */
export function createLocalFolder(path: string, mode?: number): Promise<void> {
  return createFolder(resolve(path), mode).catch(cause => {
    throw new Error(`${path} cannot be created: ${cause.message}`, { cause })
  })
}

/**
 * The option `recursive` of `mkdir` tries without end in a folder that accepts no new ones, such as
 * `/proc` (as of Node 24).
 */
async function createFolder(path: string, mode: number | undefined): Promise<void> {
  if (await isFolder(path)) return
  const parent = dirname(path)
  if (parent !== path) await createFolder(parent, mode)
  await mkdir(path, { mode }).catch(async error => {
    // Another process may have created it in the meantime.
    if (!(await isFolder(path))) throw error
  })
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    status => status.isDirectory(),
    () => false,
  )

/**
 * Replaces an existing file named on the command line. The file has its old or its new content,
 * even if the process is killed, and keeps its permissions. Rejects with an `Error` that names the
 * file and the reason.
 */
export function replaceLocalFile(path: string, content: Uint8Array): Promise<void> {
  return replaceContent(path, content).catch(cause => {
    throw createWriteError(path, cause)
  })
}

async function replaceContent(path: string, content: Uint8Array): Promise<void> {
  // A symbolic link continues to exist.
  const target = await realpath(path)
  const { mode } = await stat(target)
  const draft = `${target}.${process.pid}.new`
  try {
    const file = await open(draft, 'wx', mode)
    try {
      await file.chmod(mode)
      await file.writeFile(content)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, target)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}
