import { EyrieError, type Pipeline } from '@eyrie/contract'
import type { Catalog } from '../catalog/catalog.ts'
import type { ConfiguredPipelines } from '../configuration/configuration.ts'
import { checkElements } from '../configuration/pipeline-definition.ts'
import type { KnownElement, KnownPlugin } from '../plugin-host/known-plugin.ts'

/** The ids of the pipelines that run elements of this version of a plugin. */
export function findUsers(
  { elements }: KnownPlugin,
  pipelines: readonly Pipeline[],
  activeElements: ReadonlyMap<string, KnownElement>,
): number[] {
  const isProvided = (name: string) => {
    const active = activeElements.get(name)
    return active !== undefined && elements.includes(active)
  }
  return pipelines.filter(({ elements }) => elements.some(({ name }) => isProvided(name))).map(({ id }) => id)
}

/** The pipelines that would become invalid, or invalid for another reason, with the next catalog. */
export function findIncompatiblePipelines(
  { pipelines, sources }: ConfiguredPipelines,
  current: Catalog,
  next: Catalog,
): { pipeline: number; reason: string }[] {
  const sourceIds = new Set(sources.map(({ id }) => id))
  const findProblem = ({ id, elements }: Pipeline, catalog: Catalog): string | undefined => {
    try {
      checkElements(elements, catalog, `/pipelines/${id}/elements`, source => sourceIds.has(source))
      return undefined
    } catch (error) {
      if (error instanceof EyrieError) return error.message
      throw error
    }
  }
  return pipelines.flatMap(pipeline => {
    const reason = findProblem(pipeline, next)
    const isNew = reason !== undefined && reason !== findProblem(pipeline, current)
    return isNew ? [{ pipeline: pipeline.id, reason }] : []
  })
}
