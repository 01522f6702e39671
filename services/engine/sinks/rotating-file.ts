import { existsSync } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Where a file is, and when it is rotated: renamed to `path.1`, so that a new file is started. */
export interface RotatingFileOptions {
  path: string
  /** The file is rotated before it exceeds this size. */
  maxBytes: number
  /** Number of rotated files to keep, named `path.1` (the newest), `path.2`, … */
  keep: number
}

/** An append-only file that is rotated before it exceeds its maximum size. */
export class RotatingFile {
  readonly #options: RotatingFileOptions
  #file: FileHandle | undefined
  /** Size of the file in bytes. */
  #size = 0

  constructor(options: RotatingFileOptions) {
    this.#options = options
  }

  /** Appends all bytes. If it throws, it has appended nothing. */
  async append(bytes: Uint8Array): Promise<void> {
    this.#file ??= await this.#open()
    const isFull = this.#size > 0 && this.#size + bytes.length > this.#options.maxBytes
    if (isFull) this.#file = await this.#rotate(this.#file)

    try {
      await this.#file.appendFile(bytes)
      this.#size += bytes.length
    } catch (error) {
      // Removes a part that was written, as far as the disk still permits it.
      await this.#file.truncate(this.#size).catch(() => {})
      throw error
    }
  }

  async close(): Promise<void> {
    await this.#file?.close()
    this.#file = undefined
  }

  async #open(): Promise<FileHandle> {
    await mkdir(dirname(this.#options.path), { recursive: true })
    const file = await open(this.#options.path, 'a')
    this.#size = (await file.stat()).size
    return file
  }

  async #rotate(full: FileHandle): Promise<FileHandle> {
    const { path, keep } = this.#options
    if (keep === 0) {
      await full.truncate(0)
      this.#size = 0
      return full
    }

    // The file does not exist if an administrator has moved it, or after a rotation
    // that failed halfway.
    if (existsSync(path)) await this.#shiftRotatedFiles()
    const file = await this.#open()
    await full.close()
    return file
  }

  async #shiftRotatedFiles(): Promise<void> {
    const { path, keep } = this.#options
    await shiftFiles(age => (age === 0 ? path : `${path}.${age}`), keep)
  }
}

/**
 * Renames each file to the path of the next age, beginning with age 0, and up to the first age
 * without a file. A file of age `keep` is replaced. The number of steps depends on the number of
 * files, because `keep` may be large to keep all files.
 */
export async function shiftFiles(toPath: (age: number) => string, keep: number): Promise<void> {
  let end = 0
  while (end < keep && (await lstat(toPath(end)).catch(ignoreMissing))) end++
  // The oldest file is renamed first, so that each rename overwrites only a file that
  // is no longer needed.
  for (let age = end - 1; age >= 0; age--) {
    // An administrator may move files meanwhile.
    await rename(toPath(age), toPath(age + 1)).catch(ignoreMissing)
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
