import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Mutex } from 'async-mutex'
import type { ElementCall } from '../../protocol/element-calls.ts'

/** Valid names of files. They contain no slash, so that no file is outside of the folder. */
const FILE_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/
/**
 * Maximum number of files: the limit in bytes does not include the space that names and small
 * files take on the disk.
 */
const MAX_FILES = 1000
/** Name of the file that is being written. It is no valid name for the files of an element. */
const DRAFT_NAME = '.draft'
/** Maximum length of an invalid name in an error message. */
const MAX_QUOTED_LENGTH = 200

type StorageCall = Exclude<ElementCall, { method: 'fetch' | 'infer' }>

/**
 * The files that an element stores in a folder of its own. The engine reads and writes
 * them for the element.
 */
export class PrivateStorage {
  readonly #folder: string
  readonly #maxBytes: number
  /**
   * One write at a time, so that the total size does not change between its check and the write.
   */
  readonly #writes = new Mutex()

  /** `maxBytes` is the maximum size of all files together. */
  constructor(folder: string, maxBytes: number) {
    this.#folder = folder
    this.#maxBytes = maxBytes
  }

  /**
   * Handles a call. Content is encoded as base64 in the call and in the result.
   * Rejects with the reason.
   */
  async handle(call: StorageCall): Promise<unknown> {
    switch (call.method) {
      case 'list':
        return this.#list()
      case 'read':
        return this.#read(call.name)
      case 'write':
        return this.#writes.runExclusive(() =>
          this.#write(call.name, Buffer.from(call.content, 'base64')),
        )
      case 'delete':
        return this.#writes.runExclusive(() => rm(this.#toPath(call.name), { force: true }))
    }
  }

  async #list(): Promise<string[]> {
    const names = await readdir(this.#folder).catch(ignoreMissing)
    return (names ?? []).filter(name => FILE_NAME.test(name)).sort()
  }

  async #read(name: string): Promise<string | undefined> {
    const content = await readFile(this.#toPath(name)).catch(ignoreMissing)
    return content?.toString('base64')
  }

  async #write(name: string, content: Buffer): Promise<void> {
    const path = this.#toPath(name)
    await this.#assertFits(name, content.length)

    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    // Renamed, so that no half of a file remains if the engine is killed.
    const draft = join(this.#folder, DRAFT_NAME)
    await writeFile(draft, content)
    await rename(draft, path)
  }

  /** Throws an `Error` if a file of this name and size would exceed a limit of the storage. */
  async #assertFits(name: string, bytes: number): Promise<void> {
    const names = await this.#list()
    const otherNames = names.filter(other => other !== name)
    if (otherNames.length >= MAX_FILES) {
      throw new Error(`the storage of the element has ${MAX_FILES} files already`)
    }
    const otherFiles = await Promise.all(otherNames.map(other => stat(join(this.#folder, other))))
    const totalBytes = otherFiles.reduce((sum, { size }) => sum + size, bytes)
    if (totalBytes > this.#maxBytes) {
      throw new Error(
        `the storage of the element would have ${totalBytes} bytes; its manifest declares ${this.#maxBytes}`,
      )
    }
  }

  #toPath(name: string): string {
    if (!FILE_NAME.test(name)) {
      throw new Error(
        `${JSON.stringify(name).slice(0, MAX_QUOTED_LENGTH)} is no valid name of a file`,
      )
    }
    return join(this.#folder, name)
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
