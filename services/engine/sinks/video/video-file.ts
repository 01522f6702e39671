import { existsSync } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join, parse } from 'node:path'

/** A file that grows by complete fragments, so that it is playable after a crash at any moment. */
export class VideoFile {
  readonly #path: string
  readonly #keep: number
  #file: FileHandle | undefined
  #size = 0

  /** `keep`: number of earlier files of this path to keep; `name.1.mp4` is the newest. */
  constructor(path: string, keep: number) {
    this.#path = path
    this.#keep = keep
  }

  /** Rotates an earlier file of the same path and creates a new one, atomically with its header. */
  async create(header: Uint8Array): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true })
    await this.#rotateEarlier()
    const draft = toDraftPath(this.#path)
    const file = await open(draft, 'w')
    try {
      await file.appendFile(header)
      await rename(draft, this.#path)
    } catch (error) {
      await file.close()
      await rm(draft, { force: true }).catch(() => {})
      throw error
    }
    this.#file = file
    this.#size = header.length
  }

  /** Appends all of `bytes`, or nothing if it throws. */
  async append(bytes: Uint8Array): Promise<void> {
    const file = this.#file
    if (!file) throw new Error(`${this.#path} is not open`)
    try {
      await file.appendFile(bytes)
      this.#size += bytes.length
    } catch (error) {
      await file.truncate(this.#size).catch(() => {})
      throw error
    }
  }

  async close(): Promise<void> {
    await this.#file?.close()
    this.#file = undefined
  }

  /** Does nothing if there is no file at the path: a retry must not rotate the earlier files again. */
  async #rotateEarlier(): Promise<void> {
    if (!existsSync(this.#path)) return
    if (this.#keep === 0) return rm(this.#path, { force: true })
    for (let age = this.#keep - 1; age >= 0; age--)
      await rename(toRotatedPath(this.#path, age), toRotatedPath(this.#path, age + 1)).catch(ignoreMissing)
  }
}

/** Removes the unfinished file of a writer that was killed in `create`. It contains at most a header. */
export const removeDraft = (path: string): Promise<void> => rm(toDraftPath(path), { force: true })

const toDraftPath = (path: string) => `${path}.new`

/** For `/output/door.mp4` and age 2, returns `/output/door.2.mp4`. */
function toRotatedPath(path: string, age: number): string {
  const { dir, name, ext } = parse(path)
  return age === 0 ? path : join(dir, `${name}.${age}${ext}`)
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
