import { isDeepStrictEqual } from 'node:util'
import type { ModelCard } from '@eyrie/contract/model'
import type { Log } from '@eyrie/kit'
import type { ModelStore, StoredModel } from '@eyrie/model-store'
import type { Provider } from '@eyrie/model-store/session'
import { Mutex } from 'async-mutex'
import type { ModelLease, ModelRegistry } from './model-registry.ts'

export interface FollowModelOptions {
  models: Pick<ModelStore, 'get' | 'onChange'>
  registry: Pick<ModelRegistry, 'acquire'>
  provider: Provider
  /** Whether a replacement reads the same view as the first model. */
  isCompatible(card: ModelCard): boolean
  log: Log
}

/** A lease on the current model of a name in the store. */
export interface FollowedModel extends ModelLease {
  readonly card: ModelCard
}

/**
 * Leases a model and follows replacements in the store. A replacement is loaded in addition to the old model and swapped in
 * between two frames; frames in flight finish on the old one. If it cannot be loaded, the old one remains in use. If it
 * reads another view, the lease is revoked, so that the element reopens.
 */
export async function followModel(first: StoredModel, options: FollowModelOptions): Promise<FollowedModel> {
  const { models, registry, provider, isCompatible, log } = options
  const { name } = first.card
  const revoked = Promise.withResolvers<Error>()
  const replacing = new Mutex()
  let isReleased = false

  const acquire = async (model: StoredModel) => {
    const lease = await registry.acquire(model, provider)
    void lease.revoked.then(reason => {
      if (current.lease === lease) revoked.resolve(reason)
    })
    return { model, lease }
  }
  let current = await acquire(first)

  const replaceIfChanged = async () => {
    const model = models.get(name)
    if (isReleased || !model || isDeepStrictEqual(model, current.model)) return
    const replacement = await acquire(model)
    if (isReleased || !isCompatible(model.card)) {
      replacement.lease.release()
      revoked.resolve(new Error(`model ${name} was replaced by one that reads another picture`))
      return
    }
    const previous = current
    current = replacement
    previous.lease.release()
    log.info({ model: name, sha256: model.card.sha256 }, 'model replaced')
  }
  const unfollow = models.onChange(() => {
    replacing
      .runExclusive(replaceIfChanged)
      .catch(error => log.warn({ err: error, model: name }, 'failed to load replacement of model'))
  })

  return {
    get card() {
      return current.model.card
    },
    isLoadedOn: worker => current.lease.isLoadedOn(worker),
    run: (worker, frame) => current.lease.run(worker, frame),
    revoked: revoked.promise,
    release: () => {
      isReleased = true
      unfollow()
      current.lease.release()
    },
  }
}
