import { type Client, getEtag } from '@eyrie/client'
import type { Pipeline, PipelineElement } from '@eyrie/contract'
import { type Line, lines } from '@eyrie/element'
import { z } from 'zod'

/**
 * Reads and replaces the lines of a pipeline. They are in the config of its element
 * `line-crossing`, by source.
 */

const LINE_CROSSING = 'line-crossing'

/** The config of `line-crossing`. Its keys list source ids, such as `1` or `1,2`. */
const lineConfig = z.record(z.string(), z.strictObject({ lines }))
type LineConfig = z.output<typeof lineConfig>

/** Returns the first element `line-crossing`. */
export const findLineCrossing = (
  elements: readonly PipelineElement[],
): PipelineElement | undefined => elements.find(({ name }) => name === LINE_CROSSING)

/** Returns the lines of a source. Returns undefined if the pipeline has no `line-crossing`. */
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
 * they share a key with it.
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
    // Proposed lines have more properties than the config accepts.
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
  // The load remains the same, so that even an overloaded machine should accept the change.
  return client.pipeline.modify(
    pipeline.id,
    { elements },
    { ifMatch: getEtag(pipeline), override: 'capacity' },
  )
}

/**
 * Returns `line-crossing` as a file for `eyrie deploy` contains it: the keys of its config
 * are positions in the list of sources instead of ids. Lines of sources that are not in
 * the list are omitted.
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

const parseConfig = (element: PipelineElement) => lineConfig.parse(element.config ?? {})

const parseKey = (key: string) => key.split(',').map(Number)

/**
 * Replaces the sources in all keys by the results of `map`, or removes those for which
 * it returns undefined.
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
