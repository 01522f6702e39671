import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { writeDurably } from '@eyrie/kit/durable-file'

const SUFFIX = '.jpg'

/** Pictures of events, each named by the SHA-256 of its bytes; the oldest go when there is no more room. */
export interface PictureStore {
  open(): Promise<void>
  /** The name of a picture, once it would survive a loss of power. Rejects if the disk does not take it. */
  keep(jpeg: Uint8Array): Promise<string>
  /** Undefined if it is not kept, or no longer. */
  read(sha256: string): Promise<Uint8Array<ArrayBuffer> | undefined>
  /** Why the last picture was not kept; undefined if it was. */
  failure(): string | undefined
}

export function createPictureStore(folder: string, bytes: number): PictureStore {
  /** Sizes by name, the oldest first. */
  const sizes = new Map<string, number>()
  let used = 0
  let failure: string | undefined
  /** Pictures on their way to the disk: two channels of one source may bring the same at once. */
  const keeping = new Map<string, Promise<void>>()

  const pathOf = (sha256: string) => join(folder, sha256 + SUFFIX)
  const forget = (sha256: string) => {
    used -= sizes.get(sha256) ?? 0
    sizes.delete(sha256)
  }
  const remember = (sha256: string, size: number) => {
    forget(sha256)
    sizes.set(sha256, size)
    used += size
  }
  const makeRoom = async () => {
    for (const oldest of sizes.keys()) {
      if (used <= bytes) return
      forget(oldest)
      await rm(pathOf(oldest), { force: true })
    }
  }
  const put = async (sha256: string, jpeg: Uint8Array) => {
    failure = undefined
    await writeDurably(pathOf(sha256), jpeg).catch(error => {
      failure = `pictures of events cannot be kept (${error.code}): free some space in ${folder}`
      throw error
    })
    remember(sha256, jpeg.length)
    await makeRoom()
  }

  return {
    open: async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const found = await Promise.all(
        (await readdir(folder)).map(async name => ({ name, ...(await times(join(folder, name))) })),
      )
      for (const { name, size } of found.sort((a, b) => a.mtimeMs - b.mtimeMs)) {
        if (name.endsWith(SUFFIX)) remember(name.slice(0, -SUFFIX.length), size)
        else await rm(join(folder, name))
      }
      await makeRoom()
    },
    keep: async jpeg => {
      const sha256 = createHash('sha256').update(jpeg).digest('hex')
      const kept = keeping.get(sha256) ?? put(sha256, jpeg).finally(() => keeping.delete(sha256))
      keeping.set(sha256, kept)
      await kept
      return sha256
    },
    read: async sha256 => (sizes.has(sha256) ? Uint8Array.from(await readFile(pathOf(sha256))) : undefined),
    failure: () => failure,
  }
}

async function times(path: string): Promise<{ size: number; mtimeMs: number }> {
  const { size, mtimeMs } = await stat(path)
  return { size, mtimeMs }
}
