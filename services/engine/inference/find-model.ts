import type { ModelStore, StoredModel } from '@eyrie/model-store'

/**
 * Returns a model of the catalog. Throws an `Error` with the remedy if there is none of this name.
 */
export function findModel(models: Pick<ModelStore, 'get'>, name: string): StoredModel {
  const model = models.get(name)
  if (model) return model
  throw new Error(
    `there is no model ${name}: "eyrie model list" lists the available ones, "eyrie model add" adds one`,
  )
}
