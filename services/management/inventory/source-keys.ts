import type { PipelineElement } from '@eyrie/contract'

const UUID = '[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}'
const keyOfSources = new RegExp(`^\\s*${UUID}\\s*(?:,\\s*${UUID}\\s*)*$`, 'i')

const idsIn = (key: string) => key.split(',').map(id => id.trim().toLowerCase())

/** The sources of this system that keys of configs name. */
export const namedSources = (elements: readonly PipelineElement[]): string[] => [
  ...new Set(elements.flatMap(({ config = {} }) => Object.keys(config).filter(isOfSources).flatMap(idsIn))),
]

/** The keys that name sources, with what these are called elsewhere; a key goes whose sources are not there. */
export function renameSources(
  elements: readonly PipelineElement[],
  sidOf: (source_id: string) => number | string | undefined,
): PipelineElement[] {
  return elements.map(element => {
    if (!element.config) return element
    const entries = Object.entries(element.config).flatMap(([key, value]) => {
      if (!isOfSources(key)) return [[key, value] as const]
      const sids = idsIn(key).flatMap(id => sidOf(id) ?? [])
      return sids.length > 0 ? [[sids.join(','), value] as const] : []
    })
    return { ...element, config: Object.fromEntries(entries) }
  })
}

const isOfSources = (key: string) => keyOfSources.test(key)
