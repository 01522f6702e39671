import type { ElementDemand } from '../catalog/element-demand.ts'
import type { Plan, SourcePlan } from '../plan/plan.ts'
import type { KnownCosts } from './costs.ts'
import { removeCredentials } from './costs.ts'

/** The demand of all channels of a plan, in cores. `unknown` lists what was never measured and counts as 0. */
export interface Load {
  cores: number
  decoding: number
  inference: number
  elements: number
  unknown: string[]
}

/** Returns what the elements of a pipeline require. */
export type FindDemands = (elements: Plan['pipelines'][number]['elements']) => ElementDemand[]

/**
 * Sums CPU time per frame times frames per second: decoding over sources, inference and elements over channels. A source is
 * decoded once, regardless of its number of channels. Files with pacing `all` have no frame rate and do not count, nor do
 * files that have ended.
 */
export function estimateLoad(plan: Plan, costs: KnownCosts, findDemands: FindDemands): Load {
  const unknown = new Set<string>()
  const frameCosts = new Map(
    plan.pipelines.map(({ id, elements }) => [id, estimateFrameCost(findDemands(elements), costs)] as const),
  )
  const channelsBySource = Map.groupBy(plan.channels, ({ source }) => source)
  let decodingMs = 0
  let inferenceMs = 0
  let elementsMs = 0

  for (const source of plan.sources) {
    const channels = channelsBySource.get(source.id) ?? []
    if (channels.length === 0 || source.pacing === 'all' || source.ended) continue
    const cost = costs.sourceCost(source)
    if (!cost) unknown.add(describeSource(source))
    const { fps, decodeMs, scaleMs = 0 } = cost ?? { fps: 0, decodeMs: 0 }
    const rate = Math.min(fps, source.rate ?? fps)
    decodingMs += fps * decodeMs + rate * scaleMs

    for (const frame of channels.flatMap(({ pipeline }) => frameCosts.get(pipeline) ?? [])) {
      for (const name of frame.unknown) unknown.add(name)
      inferenceMs += rate * frame.inferenceMs
      elementsMs += rate * frame.elementsMs
    }
  }
  // One core provides 1000 ms of CPU time per second.
  const decoding = decodingMs / 1000
  const inference = inferenceMs / 1000
  const elements = elementsMs / 1000
  return {
    cores: decoding + inference + elements,
    decoding,
    inference,
    elements,
    unknown: [...unknown].sort(),
  }
}

/** The known cost of one frame in a pipeline. */
function estimateFrameCost(demands: readonly ElementDemand[], costs: KnownCosts) {
  const frame = { elementsMs: 0, inferenceMs: 0, unknown: [] as string[] }
  for (const { name, version, inference } of demands) {
    const elementMs = costs.elementCost(name, version)
    const inferenceMs = inference && costs.inferenceCost(inference)
    if (elementMs === undefined) frame.unknown.push(`element ${name}`)
    if (inference && inferenceMs === undefined) frame.unknown.push(`model ${inference.model}`)
    frame.elementsMs += elementMs ?? 0
    frame.inferenceMs += inferenceMs ?? 0
  }
  return frame
}

/** By address, since a new source has no id yet. The query is removed because it may contain a password. */
const describeSource = ({ address }: SourcePlan) =>
  `source ${removeCredentials(address.url).replace(/\?.*$/, '')}`
