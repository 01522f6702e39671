import { type Client, getEtag } from '@eyrie/client'
import type { Pipeline, PipelineElement } from '@eyrie/contract'
import { type Line, lines } from '@eyrie/element'
import { z } from 'zod'

/**
 * Reads and replaces the lines of a pipeline at which objects are counted. The element
 * `line-crossing` of the pipeline has them in its config, by source.
 */

const LINE_CROSSING = 'line-crossing'

/**
 * The config of `line-crossing`. A key consists of the ids of the sources that have the same lines,
 * such as `1` or `1,2`.
 */
const lineConfig = z.record(z.string(), z.strictObject({ lines }))
type LineConfig = z.output<typeof lineConfig>

/** Returns the first element `line-crossing`; undefined if there is none. */
export const findLineCrossing = (
  elements: readonly PipelineElement[],
): PipelineElement | undefined => elements.find(({ name }) => name === LINE_CROSSING)

/** Returns the lines of a source; undefined if there is no element `line-crossing`. */
export function readLines(
  elements: readonly PipelineElement[],
  source: number,
): Line[] | undefined {
  const element = findLineCrossing(elements)
  if (!element) return undefined
  return Object.entries(parseConfig(element))
    .filter(([key]) => parseKey(key).includes(source))
    .flatMap(([, { lines }]) => lines)
}

/**
 * Returns the elements with new lines for one source. Other sources retain their lines, even if
 * their ids are in the same key.
 */
export function replaceLines(
  elements: readonly PipelineElement[],
  source: number,
  newLines: readonly Line[],
): PipelineElement[] {
  const replaced = findLineCrossing(elements)
  return elements.map(element => {
    if (element !== replaced) return element
    const otherSources = mapSources(parseConfig(element), id => (id === source ? undefined : id))
    // Lines that `eyrie lines` proposes have more properties than the config accepts.
    const configLines = newLines.map(({ name, coords }) => ({ name, coords }))
    return { ...element, config: { ...otherSources, [source]: { lines: configLines } } }
  })
}

/** The new lines of sources, by id of the source. */
type LinesBySource = ReadonlyMap<number, readonly Line[]>

/** Returns the elements with new lines for several sources. */
export function replaceLinesOfSources(
  elements: readonly PipelineElement[],
  linesBySource: LinesBySource,
): PipelineElement[] {
  let changed = [...elements]
  for (const [source, newLines] of linesBySource) changed = replaceLines(changed, source, newLines)
  return changed
}

/**
 * Replaces the lines of sources in a running pipeline. Rejects with `EyrieError` (`precondition`)
 * if the pipeline has changed since it was read.
 */
export function drawLines(
  client: Client,
  pipeline: Pipeline,
  linesBySource: LinesBySource,
): Promise<Pipeline> {
  const elements = replaceLinesOfSources(pipeline.elements, linesBySource)
  // Lines cost nothing, so the engine should accept the change even if the machine is overloaded.
  return client.pipeline.modify(
    pipeline.id,
    { elements },
    { ifMatch: getEtag(pipeline), override: 'capacity' },
  )
}

/**
 * Converts the element `line-crossing` for a file of `eyrie deploy`. In such a file, sources have
 * no ids yet: the keys of the config are positions in the list of sources, from 0. Lines of sources
 * that are not in the list are omitted.
 */
export function toDeployedElement(
  element: PipelineElement,
  sources: readonly number[],
): PipelineElement {
  const config = mapSources(parseConfig(element), id =>
    sources.includes(id) ? sources.indexOf(id) : undefined,
  )
  return { ...element, config }
}

/** Returns the config of `line-crossing`; empty if the element has none. */
const parseConfig = (element: PipelineElement) => lineConfig.parse(element.config ?? {})

const parseKey = (key: string) => key.split(',').map(Number)

/**
 * Replaces each source in the keys of a config by the result of `map`. If the result is undefined,
 * removes the source, and removes the entry if its key has no other source.
 */
function mapSources(config: LineConfig, map: (source: number) => number | undefined): LineConfig {
  const mapped: LineConfig = {}
  for (const [key, entry] of Object.entries(config)) {
    const sources = parseKey(key)
      .map(source => map(source))
      .filter(source => source !== undefined)
    if (sources.length > 0) mapped[sources.join(',')] = entry
  }
  return mapped
}
