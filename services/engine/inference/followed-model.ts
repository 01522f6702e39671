import { isDeepStrictEqual } from 'node:util'
import type { ModelCard } from '@eyrie/contract/model'
import type { Log } from '@eyrie/kit'
import type { ModelStore, StoredModel } from '@eyrie/model-store'
import type { Provider } from '@eyrie/model-store/session'
import { Mutex } from 'async-mutex'
import type { ModelLease, ModelRegistry } from './model-registry.ts'

/** The model that a detector follows, and how the detector is prepared for a replacement. */
export interface FollowModelOptions {
  /**
   * The name of the model in pipelines. If another model was selected to run in its place, its
   * card has another name.
   */
  name: string
  models: Pick<ModelStore, 'get' | 'onChange'>
  registry: Pick<ModelRegistry, 'acquire'>
  provider: Provider
  /**
   * Prepares the detector for a replacement, which may read pictures of another size or format.
   * Returns false if the pictures cannot be provided without losing frames. By default, every
   * replacement is accepted.
   */
  prepare?(card: ModelCard): Promise<boolean>
  /** Called when the replacement has taken over. */
  onReplaced?(): Promise<void>
  log: Log
}

/** A lease that always refers to the current model of a name. */
export interface FollowedModel extends ModelLease {
  readonly card: ModelCard
}

/** A model of the store, and its own lease in the inference workers. */
interface LeasedModel {
  model: StoredModel
  lease: ModelLease
}

/**
 * Leases a model, and switches to its replacement when the store has another model under its name:
 * - The new model is loaded while the old one still runs, and takes over between two frames.
 * - If the new model cannot be loaded, the old one remains in use.
 * - If `prepare` returns false, the lease is revoked, so that the element opens its detector again.
 */
export async function followModel(
  first: StoredModel,
  options: FollowModelOptions,
): Promise<FollowedModel> {
  const { name, models, registry, provider, log } = options
  const { prepare = async () => true, onReplaced } = options
  const revoked = Promise.withResolvers<Error>()
  const replacementMutex = new Mutex()
  let isReleased = false
  let current = await acquire(first)
  forwardRevocation(current)

  async function acquire(model: StoredModel): Promise<LeasedModel> {
    return { model, lease: await registry.acquire(model, provider) }
  }

  /** Revokes the followed lease when the lease of the model in use is revoked. */
  function forwardRevocation(leased: LeasedModel): void {
    void leased.lease.revoked.then(reason => {
      if (leased === current) revoked.resolve(reason)
    })
  }

  async function replaceIfChanged(): Promise<void> {
    const model = models.get(name)
    if (isReleased || !model || isDeepStrictEqual(model, current.model)) return

    const replacement = await acquire(model)
    let isReady: boolean
    try {
      isReady = await prepare(model.card)
    } catch (error) {
      replacement.lease.release()
      throw error
    }
    if (isReleased || !isReady) {
      replacement.lease.release()
      revoked.resolve(new Error(`model ${name} was replaced by one that reads another picture`))
      return
    }

    const previous = current
    current = replacement
    forwardRevocation(replacement)
    previous.lease.release()
    await onReplaced?.()
    const { name: active, sha256 } = model.card
    log.info({ model: name, ...(active !== name && { active }), sha256 }, 'model replaced')
  }

  // The store awaits the promise, so that the replacement of a model ends when all
  // detectors use the new one.
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
