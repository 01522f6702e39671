import { isDeepStrictEqual } from 'node:util'
import { type Scan, type StoredModel, scanModels } from './read.ts'

export interface StoreLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** The models that are there now. */
export interface ModelStore {
  list(): StoredModel[]
  get(name: string): StoredModel | undefined
  /** Called after models have come, changed or gone; the answer ends it. */
  onChange(listener: () => void): () => void
  close(): void
}

export interface ModelStoreOptions {
  /** Folders of models; of two models with one name the first root's counts. */
  roots: readonly string[]
  log: StoreLog
  intervalMs?: number
}

/**
 * Opens the store and follows it: the folders are read again every second. That costs a few system calls, works on
 * every file system and for folders that do not exist yet, which notifications from the kernel do not.
 */
export async function openModelStore(options: ModelStoreOptions): Promise<ModelStore> {
  const { roots, log, intervalMs = 1000 } = options
  const listeners = new Set<() => void>()
  let known: Scan = { models: new Map(), broken: [] }

  const rescan = async () => {
    const scan = await scanModels(roots)
    if (isDeepStrictEqual(scan, known)) return
    report(known, scan, log)
    known = scan
    for (const listener of listeners) listener()
  }

  let timer: NodeJS.Timeout | undefined
  let closed = false
  const follow = async () => {
    await rescan().catch(error => log.warn({ err: error }, 'the model store cannot be read; trying again'))
    if (!closed) timer = setTimeout(follow, intervalMs).unref()
  }
  await follow()

  return {
    list: () => [...known.models.values()],
    get: name => known.models.get(name),
    onChange: listener => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: () => {
      closed = true
      clearTimeout(timer)
    },
  }
}

function report(before: Scan, after: Scan, log: StoreLog): void {
  const toldBefore = new Set(before.broken.map(({ folder, reason }) => `${folder}\n${reason}`))
  for (const { folder, reason } of after.broken)
    if (!toldBefore.has(`${folder}\n${reason}`)) log.warn({ folder, reason }, 'skipped a broken model')
  for (const [name, { folder }] of after.models)
    if (!before.models.has(name)) log.info({ model: name, folder }, 'model found')
  for (const name of before.models.keys())
    if (!after.models.has(name)) log.info({ model: name }, 'model gone')
}
