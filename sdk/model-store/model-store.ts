import { isDeepStrictEqual } from 'node:util'
import { type ModelScan, type StoredModel, scanModels } from './read-models.ts'

export interface StoreLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** The current models on disk. */
export interface ModelStore {
  list(): StoredModel[]
  get(name: string): StoredModel | undefined
  /** Calls the listener after models were added, changed or removed. Returns a function that unsubscribes it. */
  onChange(listener: () => void): () => void
  close(): void
}

export interface ModelStoreOptions {
  /** Folders of models. If several roots contain the same name, the first root wins. */
  roots: readonly string[]
  log: StoreLog
  intervalMs?: number
}

/**
 * Opens the store and rescans its folders every second. A scan costs a few system calls. Unlike file notifications, it
 * works on every file system and for folders that do not exist yet.
 */
export async function openModelStore(options: ModelStoreOptions): Promise<ModelStore> {
  const { roots, log, intervalMs = 1000 } = options
  const listeners = new Set<() => void>()
  let current: ModelScan = { models: new Map(), broken: [] }

  const rescan = async () => {
    const scan = await scanModels(roots)
    if (isDeepStrictEqual(scan, current)) return
    logChanges(current, scan, log)
    current = scan
    for (const listener of listeners) listener()
  }

  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  const poll = async () => {
    await rescan().catch(err => log.warn({ err }, 'failed to read the model store; retrying'))
    if (!isClosed) timer = setTimeout(poll, intervalMs).unref()
  }
  await poll()

  return {
    list: () => [...current.models.values()],
    get: name => current.models.get(name),
    onChange: listener => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: () => {
      isClosed = true
      clearTimeout(timer)
    },
  }
}

function logChanges(before: ModelScan, after: ModelScan, log: StoreLog): void {
  const alreadyLogged = new Set(before.broken.map(({ folder, reason }) => `${folder}\n${reason}`))
  for (const { folder, reason } of after.broken)
    if (!alreadyLogged.has(`${folder}\n${reason}`)) log.warn({ folder, reason }, 'skipped broken model')
  for (const [name, { folder }] of after.models)
    if (!before.models.has(name)) log.info({ model: name, folder }, 'model added')
  for (const name of before.models.keys())
    if (!after.models.has(name)) log.info({ model: name }, 'model removed')
}
