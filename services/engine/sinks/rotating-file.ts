import { existsSync } from 'node:fs'
import { type FileHandle, mkdir, open, rename } from 'node:fs/promises'
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
    for (let age = keep - 1; age > 0; age--) {
      await rename(`${path}.${age}`, `${path}.${age + 1}`).catch(ignoreMissing)
    }
    await rename(path, `${path}.1`)
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
