import { EyrieError, type Pipeline } from '@eyrie/contract'
import type { Catalog } from '../catalog/catalog.ts'
import type { Configured } from '../configuration/configuration.ts'
import { checkElements } from '../configuration/pipeline-kind.ts'
import type { KnownElement, KnownPlugin } from '../plugin-host/known-plugin.ts'

/** The pipelines whose elements this version of a plugin runs. */
export function usersOf(
  { elements }: KnownPlugin,
  pipelines: readonly Pipeline[],
  active: ReadonlyMap<string, KnownElement>,
): number[] {
  const own = new Set(elements.map(({ manifest }) => manifest.name))
  const runs = (name: string) => own.has(name) && elements.includes(active.get(name)!)
  return pipelines.filter(pipeline => pipeline.elements.some(({ name }) => runs(name))).map(({ id }) => id)
}

/** The pipelines that fit the catalog now and would not fit the next, each with the reason. */
export function misfitsOf(
  { pipelines, sources }: Configured,
  now: Catalog,
  next: Catalog,
): { pipeline: number; reason: string }[] {
  const ids = new Set(sources.map(({ id }) => id))
  const faultIn = ({ id, elements }: Pipeline, catalog: Catalog): string | undefined => {
    try {
      checkElements(elements, catalog, `/pipelines/${id}/elements`, source => ids.has(source))
      return undefined
    } catch (error) {
      if (error instanceof EyrieError) return error.message
      throw error
    }
  }
  return pipelines.flatMap(pipeline => {
    const reason = faultIn(pipeline, next)
    const isNew = reason !== undefined && reason !== faultIn(pipeline, now)
    return isNew ? [{ pipeline: pipeline.id, reason }] : []
  })
}
