import { createHash } from 'node:crypto'
import type { ElementDemand } from '../catalog/element-demand.ts'
import type { InferenceCosts } from '../inference/inference.ts'
import type { SourceCost } from '../media/media-client.ts'
import type { SourcePlan } from '../plan/plan.ts'

/** A moving average: of all values at first, then of about the last `AVERAGE_WINDOW`. */
export interface Average {
  mean: number
  /** Number of averaged values, up to `AVERAGE_WINDOW`. */
  count: number
}

const AVERAGE_WINDOW = 200

/** The averages of one source, model or element, by quantity: CPU time and other figures. */
export type Measurement = Record<string, Average>

/** Measurements by a key that survives changes of ids: sources are identified by address, models by their file. */
export type CostTable = Record<string, Measurement>

/** Costs in ms of CPU time per frame; undefined if never measured. */
export interface KnownCosts {
  sourceCost(plan: SourcePlan): SourceCost | undefined
  elementCost(name: string, version: string): number | undefined
  inferenceCost(demand: NonNullable<ElementDemand['inference']>): number | undefined
}

export interface Costs extends InferenceCosts, KnownCosts {
  recordElement(element: string, version: string, ms: number): void
  recordDecoding(source: SourcePlan, cost: SourceCost): void
  toTable(): CostTable
  /** Increases with every measurement. */
  readonly revision: number
}

/** An average of fewer frames is not used: the first frames of a model or element cost more than later ones. */
const MIN_FRAMES = 50
/** When the table is full, the entry that was measured longest ago is removed. */
const MAX_ENTRIES = 2000

/** Measures what frames cost on this machine, continuing from the table of an earlier run. */
export function createCosts(initial: CostTable = {}): Costs {
  /** Ordered by the time of the last measurement. */
  const table = new Map(Object.entries(initial))
  let revision = 0

  const record = (key: string, values: Record<string, number | undefined>) => {
    const measurement = { ...table.get(key) }
    for (const [name, value] of Object.entries(values))
      if (value !== undefined) measurement[name] = addToAverage(measurement[name], value)
    table.delete(key)
    table.set(key, measurement)
    for (const oldest of table.keys()) {
      if (table.size <= MAX_ENTRIES) break
      table.delete(oldest)
    }
    revision++
  }

  return {
    recordInference: ({ sha256, device, size }, ms) =>
      record(`${toInferencePrefix(sha256, device)}${size.width}x${size.height}`, { ms }),
    recordElement: (element, version, ms) => record(toElementKey(element, version), { ms }),
    recordDecoding: (source, { fps, decodeMs, scaleMs }) =>
      record(toSourceKey(source), { fps, decodeMs, scaleMs }),

    sourceCost: plan => toSourceCost(table.get(toSourceKey(plan))),
    elementCost: (name, version) => toReliableMs(table.get(toElementKey(name, version))),
    inferenceCost: ({ sha256, device, view }) => {
      const prefix = toInferencePrefix(sha256, device)
      const costs: number[] = []
      for (const [key, measurement] of table) {
        if (!key.startsWith(prefix)) continue
        const [width, height] = key.slice(prefix.length).split('x').map(Number)
        const ms = toReliableMs(measurement)
        const matchesWidth = !view.width || view.width === width
        const matchesHeight = !view.height || view.height === height
        if (ms !== undefined && matchesWidth && matchesHeight) costs.push(ms)
      }
      // The height of a view may depend on the picture's aspect ratio; until it is known, the cheapest size counts.
      return costs.length > 0 ? Math.min(...costs) : undefined
    },

    toTable: () => Object.fromEntries(table),
    get revision() {
      return revision
    },
  }
}

function toReliableMs(measurement: Measurement | undefined): number | undefined {
  return measurement?.ms && measurement.ms.count >= MIN_FRAMES ? measurement.ms.mean : undefined
}

function toSourceCost(measurement: Measurement | undefined): SourceCost | undefined {
  if (!measurement?.fps || !measurement.decodeMs) return undefined
  return {
    fps: measurement.fps.mean,
    decodeMs: measurement.decodeMs.mean,
    ...(measurement.scaleMs && { scaleMs: measurement.scaleMs.mean }),
  }
}

function addToAverage(average: Average | undefined, value: number): Average {
  const { mean, count } = average ?? { mean: 0, count: 0 }
  const newCount = Math.min(count + 1, AVERAGE_WINDOW)
  return { mean: mean + (value - mean) / newCount, count: newCount }
}

const toInferencePrefix = (sha256: string, device: string) => `inference ${sha256} ${device} `
const toElementKey = (name: string, version: string) => `element ${name} ${version}`

/** A digest of the address without credentials, because more people may read the file of costs than the configuration. */
function toSourceKey({ type, address, decoder }: Pick<SourcePlan, 'type' | 'address' | 'decoder'>): string {
  const identity = JSON.stringify([type, removeCredentials(address.url), decoder])
  return `source ${createHash('sha256').update(identity).digest('hex')}`
}

export const removeCredentials = (url: string) => url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1')
