import { existsSync } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join, parse } from 'node:path'

/** A file that grows by whole pieces, so that it can be played however its writer ends. */
export class VideoFile {
  readonly #path: string
  readonly #keep: number
  #file: FileHandle | undefined
  #size = 0

  /** `keep`: how many earlier files of this path are kept, `name.1.mp4` being the newest. */
  constructor(path: string, keep: number) {
    this.#path = path
    this.#keep = keep
  }

  /** Puts an earlier file of the same path aside and begins anew. There is no file before it has its header. */
  async create(header: Uint8Array): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true })
    await this.#putAside()
    const draft = draftOf(this.#path)
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

  /** Appends all of `bytes` or, where it throws, nothing. */
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

  /** Does nothing where there is nothing: to try again must not age those that are kept. */
  async #putAside(): Promise<void> {
    if (!existsSync(this.#path)) return
    if (this.#keep === 0) return rm(this.#path, { force: true })
    for (let age = this.#keep - 1; age >= 0; age--)
      await rename(aside(this.#path, age), aside(this.#path, age + 1)).catch(ifMissing)
  }
}

/** Removes what a writer that was killed while it began has left: at most a header, and never a picture. */
export const removeDraft = (path: string): Promise<void> => rm(draftOf(path), { force: true })

const draftOf = (path: string) => `${path}.new`

/** `/output/door.mp4` of age 2: `/output/door.2.mp4`. */
function aside(path: string, age: number): string {
  const { dir, name, ext } = parse(path)
  return age === 0 ? path : join(dir, `${name}.${age}${ext}`)
}

function ifMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
