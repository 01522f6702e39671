import { isDeepStrictEqual } from 'node:util'
import { recoverModels } from './model-folders.ts'
import { type BrokenModel, type ModelScan, type StoredModel, scanModels } from './read-models.ts'

/** The structured log to which the store reports models that are added, removed or broken. */
export interface StoreLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** The models on disk. A model is an ONNX file with a card, `model.json`, that describes it. */
export interface ModelStore {
  list(): StoredModel[]
  get(name: string): StoredModel | undefined
  /**
   * Calls the listener after models were added, changed or removed. Returns a function that
   * removes the listener.
   */
  onChange(listener: () => void): () => void
  close(): void
}

export interface ModelStoreOptions {
  /** Folders of models. If several roots contain the same name, the first root wins. */
  roots: readonly string[]
  log: StoreLog
  /** Interval between scans of the folders. */
  scanIntervalMs?: number
}

/**
 * Opens the store, restores models whose replacement was interrupted by a crash, and scans its
 * folders every second. A scan costs only a few system calls. Unlike
 * file system events, scanning works on every file system and for folders that do not exist yet.
 */
export async function openModelStore(options: ModelStoreOptions): Promise<ModelStore> {
  const { roots, log, scanIntervalMs = 1000 } = options
  const listeners = new Set<() => void>()
  let current: ModelScan = { models: new Map(), broken: [] }

  const rescan = async () => {
    const scan = await scanModels(roots)
    if (isDeepStrictEqual(scan, current)) return
    logChanges(current, scan, log)
    current = scan
    for (const listener of listeners) listener()
  }

  for (const root of roots) {
    await recoverModels(root).catch(err =>
      log.warn({ err, root }, 'failed to recover models after a crash'),
    )
  }

  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  const poll = async () => {
    await rescan().catch(err => log.warn({ err }, 'failed to read the model store; retrying'))
    if (!isClosed) timer = setTimeout(poll, scanIntervalMs).unref()
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
  const alreadyLogged = new Set(before.broken.map(toKey))
  for (const { folder, reason } of after.broken) {
    if (!alreadyLogged.has(toKey({ folder, reason }))) {
      log.warn({ folder, reason }, 'skipped broken model')
    }
  }
  for (const [name, { folder }] of after.models) {
    if (!before.models.has(name)) log.info({ model: name, folder }, 'model added')
  }
  for (const name of before.models.keys()) {
    if (!after.models.has(name)) log.info({ model: name }, 'model removed')
  }
}

const toKey = ({ folder, reason }: BrokenModel) => `${folder}\n${reason}`
