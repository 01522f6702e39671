import { isDeepStrictEqual } from 'node:util'
import type { ModelCard } from '@eyrie/contract/model'
import type { Log } from '@eyrie/kit'
import type { ModelStore, StoredModel } from '@eyrie/model-store'
import type { Provider } from '@eyrie/model-store/session'
import type { LoadedModels, ModelHold } from './loaded-models.ts'

export interface FollowOptions {
  models: Pick<ModelStore, 'get' | 'onChange'>
  loaded: Pick<LoadedModels, 'hold'>
  provider: Provider
  /** Whether a model that takes the place of the first one can read the same picture. */
  fits(card: ModelCard): boolean
  log: Log
}

/** The model that the store has under a name, now and later. */
export interface FollowedModel extends ModelHold {
  readonly card: ModelCard
}

/**
 * Holds a model and, when another takes its place in the store, loads that one beside it and goes over to it. Frames
 * under way end on the old one, so none is lost. One that cannot be loaded changes nothing; one that reads another
 * picture ends the hold, so that its element is opened anew.
 */
export async function followModel(first: StoredModel, options: FollowOptions): Promise<FollowedModel> {
  const { models, loaded, provider, fits, log } = options
  const { name } = first.card
  const lost = Promise.withResolvers<Error>()
  let closed = false

  const take = async (model: StoredModel) => {
    const hold = await loaded.hold(model, provider)
    void hold.lost.then(reason => {
      if (current.hold === hold) lost.resolve(reason)
    })
    return { model, hold }
  }
  let current = await take(first)

  const renew = async () => {
    const model = models.get(name)
    if (closed || !model || isDeepStrictEqual(model, current.model)) return
    const next = await take(model)
    if (closed || !fits(model.card)) {
      next.hold.release()
      lost.resolve(new Error(`model ${name} was replaced by one that reads another picture`))
      return
    }
    const before = current
    current = next
    before.hold.release()
    log.info({ model: name, sha256: model.card.sha256 }, 'a model was replaced')
  }
  let renewing = Promise.resolve()
  const unfollow = models.onChange(() => {
    renewing = renewing
      .then(renew)
      .catch(error => log.warn({ err: error, model: name }, 'what replaces a model cannot be used'))
  })

  return {
    get card() {
      return current.model.card
    },
    isReadyOn: worker => current.hold.isReadyOn(worker),
    run: (worker, frame) => current.hold.run(worker, frame),
    lost: lost.promise,
    release: () => {
      closed = true
      unfollow()
      current.hold.release()
    },
  }
}
