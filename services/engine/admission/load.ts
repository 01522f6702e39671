import type { ElementDemand } from '../catalog/element-demand.ts'
import type { SourceCost } from '../media/media-client.ts'
import type { Plan, SourcePlan } from '../plan/plan.ts'
import type { KnownCosts } from './costs.ts'
import { removeCredentials } from './costs.ts'

/** The predicted load of all channels of a plan, in CPU cores. */
export interface Load {
  /** The sum of the three shares below. */
  cores: number
  decoding: number
  /** Running models. */
  inference: number
  /** Everything else that the elements of the pipelines compute. */
  elements: number
  /** Sources, models and elements whose cost has not been measured yet. They count as 0. */
  unknown: string[]
}

/** CPU time that one core provides per second, in ms. */
const CORE_MS_PER_SECOND = 1000
/** A source that has not been measured counts as 0. */
const UNMEASURED_SOURCE: SourceCost = { fps: 0, decodeMs: 0 }

/** Returns what each element of a pipeline will compute. */
export type FindDemands = (elements: Plan['pipelines'][number]['elements']) => ElementDemand[]

/**
 * Predicts the load of a plan: the sum of CPU time per frame times frames per second. Decoding
 * counts once per source, inference and elements count for each channel. Files with pacing `all`
 * have no frame rate and do not count, nor do files that have ended.
 */
export function estimateLoad(plan: Plan, costs: KnownCosts, findDemands: FindDemands): Load {
  const frameCosts = new Map<number, FrameCost>()
  for (const { id, elements } of plan.pipelines) {
    frameCosts.set(id, estimateFrameCost(findDemands(elements), costs))
  }

  const channelsBySource = Map.groupBy(plan.channels, ({ source }) => source)
  const unknown = new Set<string>()
  /** CPU time of all sources and channels per second, in ms. */
  const total = { decodingMs: 0, inferenceMs: 0, elementsMs: 0 }

  for (const source of plan.sources) {
    const channels = channelsBySource.get(source.id) ?? []
    if (channels.length === 0 || source.pacing === 'all' || source.ended) continue

    const cost = costs.sourceCost(source)
    if (!cost) unknown.add(describeSource(source))
    const { fps, decodeMs, scaleMs = 0 } = cost ?? UNMEASURED_SOURCE
    // Every frame is decoded, but only the frames that channels receive are scaled and analysed.
    const analysedFps = Math.min(fps, source.rate ?? fps)
    total.decodingMs += fps * decodeMs + analysedFps * scaleMs

    for (const { pipeline } of channels) {
      const frameCost = frameCosts.get(pipeline)
      if (!frameCost) continue
      for (const name of frameCost.unknown) unknown.add(name)
      total.inferenceMs += analysedFps * frameCost.inferenceMs
      total.elementsMs += analysedFps * frameCost.elementsMs
    }
  }

  const decoding = total.decodingMs / CORE_MS_PER_SECOND
  const inference = total.inferenceMs / CORE_MS_PER_SECOND
  const elements = total.elementsMs / CORE_MS_PER_SECOND
  return {
    cores: decoding + inference + elements,
    decoding,
    inference,
    elements,
    unknown: [...unknown].sort(),
  }
}

/** CPU time of one frame in a pipeline. */
interface FrameCost {
  elementsMs: number
  inferenceMs: number
  unknown: string[]
}

/** Adds up the known costs of the elements of a pipeline. */
function estimateFrameCost(demands: readonly ElementDemand[], costs: KnownCosts): FrameCost {
  const frame: FrameCost = { elementsMs: 0, inferenceMs: 0, unknown: [] }
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

/**
 * Names a source by its address, because a new source has no id yet. The query is removed: it
 * may contain a password.
 */
const describeSource = ({ address }: SourcePlan) =>
  `source ${removeCredentials(address.url).replace(/\?.*$/, '')}`
