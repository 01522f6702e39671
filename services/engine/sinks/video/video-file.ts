import { existsSync } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join, parse } from 'node:path'
import { shiftFiles } from '../rotating-file.ts'

/**
 * A video file that is playable after a crash at any moment, because only complete
 * fragments are appended.
 */
export class VideoFile {
  readonly #path: string
  readonly #keep: number
  #file: FileHandle | undefined
  #size = 0

  /**
   * `keep` is the number of earlier files to keep, named `name.1.mp4` (the newest), `name.2.mp4`, …
   */
  constructor(path: string, keep: number) {
    this.#path = path
    this.#keep = keep
  }

  /**
   * Rotates the earlier files of the same path and creates a new file. The file is written under a
   * draft name and then renamed, so that it contains its header from the start.
   */
  async create(header: Uint8Array): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true })
    await this.#rotateEarlierFiles()

    const draft = toDraftPath(this.#path)
    const file = await open(draft, 'w')
    try {
      await file.appendFile(header)
      await rename(draft, this.#path)
    } catch (error) {
      await file.close()
      // A draft that cannot be deleted now is deleted by `removeDraft`.
      await rm(draft, { force: true }).catch(() => {})
      throw error
    }
    this.#file = file
    this.#size = header.length
  }

  /** Appends all bytes. If it throws, it has appended nothing. */
  async append(bytes: Uint8Array): Promise<void> {
    const file = this.#file
    if (!file) throw new Error(`${this.#path} is not open`)
    try {
      await file.appendFile(bytes)
      this.#size += bytes.length
    } catch (error) {
      // Removes a part that was written, as far as the disk still permits it.
      await file.truncate(this.#size).catch(() => {})
      throw error
    }
  }

  async close(): Promise<void> {
    await this.#file?.close()
    this.#file = undefined
  }

  async #rotateEarlierFiles(): Promise<void> {
    // After a failed attempt to create the file, the earlier files are rotated already.
    if (!existsSync(this.#path)) return
    if (this.#keep === 0) return rm(this.#path, { force: true })
    await shiftFiles(age => toRotatedPath(this.#path, age), this.#keep)
  }
}

/**
 * Deletes the draft that `create` leaves behind if the process is killed. A draft
 * contains no pictures.
 */
export const removeDraft = (path: string): Promise<void> => rm(toDraftPath(path), { force: true })

const toDraftPath = (path: string) => `${path}.new`

/** Returns `/output/door.2.mp4` for `/output/door.mp4` and the age 2. */
function toRotatedPath(path: string, age: number): string {
  const { dir, name, ext } = parse(path)
  return age === 0 ? path : join(dir, `${name}.${age}${ext}`)
}
