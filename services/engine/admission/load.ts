import type { ElementDemand } from '../catalog/element-demand.ts'
import type { Plan, SourcePlan } from '../plan/plan.ts'
import type { KnownCosts } from './costs.ts'
import { withoutCredentials } from './costs.ts'

/** What all channels of a plan need together, in cores; `unknown` was never measured and counts as nothing. */
export interface Load {
  cores: number
  decoding: number
  inference: number
  elements: number
  unknown: string[]
}

/** What a pipeline's elements ask for. */
export type DemandOf = (elements: Plan['pipelines'][number]['elements']) => ElementDemand[]

/**
 * The sum over sources of decoding, and over channels of inference and elements: CPU time a frame times frames a
 * second. A source is decoded once, however many channels read it. Files that are analysed as fast as the machine can
 * have no rate and do not count, nor do those that have ended.
 */
export function loadOf(plan: Plan, costs: KnownCosts, demandOf: DemandOf): Load {
  const unknown = new Set<string>()
  const frames = new Map(
    plan.pipelines.map(({ id, elements }) => [id, frameCost(demandOf(elements), costs)] as const),
  )
  const readers = Map.groupBy(plan.channels, ({ source }) => source)
  let [decoding, inference, elements] = [0, 0, 0]

  for (const source of plan.sources) {
    const channels = readers.get(source.id) ?? []
    if (channels.length === 0 || source.pacing === 'all' || source.ended) continue
    const cost = costs.source(source)
    if (!cost) unknown.add(nameOf(source))
    const { fps, decodeMs, scaleMs = 0 } = cost ?? { fps: 0, decodeMs: 0 }
    const rate = Math.min(fps, source.rate ?? fps)
    decoding += fps * decodeMs + rate * scaleMs

    for (const frame of channels.flatMap(({ pipeline }) => frames.get(pipeline) ?? [])) {
      for (const name of frame.unknown) unknown.add(name)
      inference += rate * frame.inferenceMs
      elements += rate * frame.elementsMs
    }
  }
  const inCores = { decoding: decoding / 1000, inference: inference / 1000, elements: elements / 1000 }
  const cores = inCores.decoding + inCores.inference + inCores.elements
  return { cores, ...inCores, unknown: [...unknown].sort() }
}

/** What one frame costs in a pipeline, as far as it is known. */
function frameCost(demands: readonly ElementDemand[], costs: KnownCosts) {
  const frame = { elementsMs: 0, inferenceMs: 0, unknown: [] as string[] }
  for (const { name, version, inference } of demands) {
    const elementMs = costs.element(name, version)
    const inferenceMs = inference && costs.inference(inference)
    if (elementMs === undefined) frame.unknown.push(`element ${name}`)
    if (inference && inferenceMs === undefined) frame.unknown.push(`model ${inference.model}`)
    frame.elementsMs += elementMs ?? 0
    frame.inferenceMs += inferenceMs ?? 0
  }
  return frame
}

/** Ids of new sources are not known to whoever asks for them; a query may hold a password. */
const nameOf = ({ address }: SourcePlan) => `source ${withoutCredentials(address.url).replace(/\?.*$/, '')}`
