import { isDeepStrictEqual } from 'node:util'
import type { ModelCard } from '@eyrie/contract/model'
import type { Log } from '@eyrie/kit'
import type { ModelStore, StoredModel } from '@eyrie/model-store'
import type { Provider } from '@eyrie/model-store/session'
import { Mutex } from 'async-mutex'
import type { ModelLease, ModelRegistry } from './model-registry.ts'

/** What `followModel` needs to keep a detector on the current file of its model. */
export interface FollowModelOptions {
  /** The name under which the store has the model. Its card has another one if another model runs in its place. */
  name: string
  models: Pick<ModelStore, 'get' | 'onChange'>
  registry: Pick<ModelRegistry, 'acquire'>
  provider: Provider
  /** Prepares for a replacement, which may read other pictures. Returns false if it cannot continue without a gap. */
  prepare?(card: ModelCard): Promise<boolean>
  /** Called when the replacement is in use. */
  onReplaced?(): Promise<void>
  log: Log
}

/** A lease on a model name in the store. It always uses the current file under that name. */
export interface FollowedModel extends ModelLease {
  readonly card: ModelCard
}

/** The file that is in use now, and its lease in the inference workers. */
interface LeasedFile {
  model: StoredModel
  lease: ModelLease
}

/**
 * Leases a model and switches to its replacement when the file in the store changes. The new model is loaded while the old
 * model still runs, and takes over between two frames. If the new model cannot be loaded, the old model remains in use. If
 * the new model reads pictures of another size or format, the lease is revoked, so that the element reopens.
 */
export async function followModel(first: StoredModel, options: FollowModelOptions): Promise<FollowedModel> {
  const { name, models, registry, provider, prepare, onReplaced, log } = options
  const revoked = Promise.withResolvers<Error>()
  const replacementMutex = new Mutex()
  let isReleased = false
  let current = await acquire(first)

  async function acquire(model: StoredModel): Promise<LeasedFile> {
    const lease = await registry.acquire(model, provider)
    void lease.revoked.then(reason => {
      const isInUse = current.lease === lease
      if (isInUse) revoked.resolve(reason)
    })
    return { model, lease }
  }

  async function replaceIfChanged(): Promise<void> {
    const model = models.get(name)
    if (isReleased || !model || isDeepStrictEqual(model, current.model)) return

    const replacement = await acquire(model)
    const isReady = (await prepare?.(model.card)) ?? true
    if (isReleased || !isReady) {
      replacement.lease.release()
      revoked.resolve(new Error(`model ${name} was replaced by one that reads another picture`))
      return
    }

    const previous = current
    current = replacement
    previous.lease.release()
    const { name: active, sha256 } = model.card
    await onReplaced?.()
    log.info({ model: name, ...(active !== name && { active }), sha256 }, 'model replaced')
  }

  // Returns a promise, so that a caller can wait until all detectors continue with another model.
  const unsubscribe = models.onChange(() =>
    replacementMutex
      .runExclusive(replaceIfChanged)
      .catch(error => log.warn({ err: error, model: name }, 'failed to load replacement model')),
  )

  return {
    get card() {
      return current.model.card
    },
    runOnCrop: (worker, crop) => current.lease.runOnCrop(worker, crop),
    isLoadedOn: worker => current.lease.isLoadedOn(worker),
    run: (worker, frame) => current.lease.run(worker, frame),
    get spread() {
      return current.lease.spread
    },
    revoked: revoked.promise,
    release: () => {
      isReleased = true
      unsubscribe()
      current.lease.release()
    },
  }
}
