import { existsSync } from 'node:fs'
import { type FileHandle, mkdir, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

export interface RotatingFileOptions {
  path: string
  /** Maximum size of the file, in bytes, before it is rotated. */
  maxBytes: number
  /** Number of rotated files to keep; `path.1` is the newest. */
  keep: number
}

/** An append-only file that is rotated before it exceeds its maximum size. */
export class RotatingFile {
  readonly #options: RotatingFileOptions
  #file: FileHandle | undefined
  #size = 0

  constructor(options: RotatingFileOptions) {
    this.#options = options
  }

  /** Appends all of `bytes`, or nothing if it throws. */
  async append(bytes: Uint8Array): Promise<void> {
    this.#file ??= await this.#open()
    if (this.#size > 0 && this.#size + bytes.length > this.#options.maxBytes)
      this.#file = await this.#rotate(this.#file)
    try {
      await this.#file.appendFile(bytes)
      this.#size += bytes.length
    } catch (error) {
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
    // The file may be missing: moved by an administrator, or rotated by an attempt that failed later.
    if (existsSync(path)) await this.#shiftRotatedFiles()
    const file = await this.#open()
    await full.close()
    return file
  }

  async #shiftRotatedFiles(): Promise<void> {
    const { path, keep } = this.#options
    for (let age = keep - 1; age > 0; age--)
      await rename(`${path}.${age}`, `${path}.${age + 1}`).catch(ignoreMissing)
    await rename(path, `${path}.1`)
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
