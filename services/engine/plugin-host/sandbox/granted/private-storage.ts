import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Mutex } from 'async-mutex'
import type { ElementCall } from '../../protocol/element-calls.ts'

const NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/
/** Of all files together: names and small files take space on the disk, too. */
const MAX_FILES = 1000
/** A name that no file can have. */
const DRAFT = '.draft'

type StorageCall = Exclude<ElementCall, { method: 'fetch' | 'infer' }>

/** The files of an element, which the engine reads and writes for it. */
export class PrivateStorage {
  readonly #folder: string
  readonly #maxBytes: number
  /** The size is checked and changed by one write at a time. */
  readonly #writes = new Mutex()

  constructor(folder: string, maxBytes: number) {
    this.#folder = folder
    this.#maxBytes = maxBytes
  }

  /** Handles a call. Binary content is encoded as base64. Throws an `Error` with the reason. */
  async handle(call: StorageCall): Promise<unknown> {
    switch (call.method) {
      case 'list':
        return this.#list()
      case 'read':
        return this.#read(call.name)
      case 'write':
        return this.#writes.runExclusive(() => this.#write(call.name, Buffer.from(call.content, 'base64')))
      case 'delete':
        return this.#writes.runExclusive(() => rm(this.#toPath(call.name), { force: true }))
    }
  }

  async #list(): Promise<string[]> {
    const names = await readdir(this.#folder).catch(ignoreMissing)
    return (names ?? []).filter(name => NAME.test(name)).sort()
  }

  async #read(name: string): Promise<string | undefined> {
    const content = await readFile(this.#toPath(name)).catch(ignoreMissing)
    return content?.toString('base64')
  }

  async #write(name: string, content: Buffer): Promise<void> {
    const path = this.#toPath(name)
    const others = (await this.#list()).filter(other => other !== name)
    if (others.length >= MAX_FILES)
      throw new Error(`the storage of the element has ${MAX_FILES} files already`)
    const sizes = await Promise.all(others.map(async other => (await stat(join(this.#folder, other))).size))
    const bytes = sizes.reduce((sum, size) => sum + size, content.length)
    if (bytes > this.#maxBytes)
      throw new Error(
        `the storage of the element would have ${bytes} bytes; its manifest declares ${this.#maxBytes}`,
      )

    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const draft = join(this.#folder, DRAFT)
    await writeFile(draft, content)
    await rename(draft, path)
  }

  #toPath(name: string): string {
    if (!NAME.test(name)) throw new Error(`${JSON.stringify(name).slice(0, 200)} is no valid name of a file`)
    return join(this.#folder, name)
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
