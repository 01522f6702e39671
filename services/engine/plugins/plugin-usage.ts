import { EyrieError, type Pipeline } from '@eyrie/contract'
import type { Catalog } from '../catalog/catalog.ts'
import type { ConfiguredPipelines } from '../configuration/configuration.ts'
import { checkElements, listSourceIds } from '../configuration/pipeline-definition.ts'
import type { KnownElements } from '../plugin-host/known-elements.ts'
import type { KnownPlugin } from '../plugin-host/known-plugin.ts'

/**
 * Returns the ids of the pipelines that use this version of a plugin. A pipeline is a sequence of
 * elements (steps), which plugins provide.
 */
export function findUsingPipelines(
  plugin: KnownPlugin,
  pipelines: readonly Pipeline[],
  known: KnownElements,
): number[] {
  const isProvidedByPlugin = (reference: string) => {
    const element = known.get(reference)
    return element !== undefined && plugin.elements.includes(element)
  }
  return pipelines
    .filter(({ elements }) => elements.some(({ name }) => isProvidedByPlugin(name)))
    .map(({ id }) => id)
}

/** A change of the catalog, which lists the elements and models that pipelines can use. */
export interface CatalogChange {
  current: Catalog
  next: Catalog
  /** The pipelines after the change, in the same order; undefined if they do not change. */
  nextPipelines: readonly Pipeline[] | undefined
}

/**
 * Returns the pipelines that a change of the catalog would make invalid. A pipeline that is invalid
 * already, for the same reason, is omitted.
 */
export function findIncompatiblePipelines(
  { pipelines, sources }: ConfiguredPipelines,
  { current, next, nextPipelines = pipelines }: CatalogChange,
): { pipeline: number; reason: string }[] {
  const sourceIds = new Set(sources.map(({ id }) => id))
  const findProblem = ({ id, elements }: Pipeline, catalog: Catalog): string | undefined => {
    try {
      checkElements(elements, catalog, `/pipelines/${id}/elements`, listSourceIds(sourceIds))
      return undefined
    } catch (error) {
      if (error instanceof EyrieError) return error.message
      throw error
    }
  }

  const incompatible: { pipeline: number; reason: string }[] = []
  for (const [index, pipeline] of pipelines.entries()) {
    const reason = findProblem(nextPipelines[index]!, next)
    const isNewProblem = reason !== findProblem(pipeline, current)
    if (reason !== undefined && isNewProblem) incompatible.push({ pipeline: pipeline.id, reason })
  }
  return incompatible
}
