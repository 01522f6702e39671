import { createHash } from 'node:crypto'
import type { InferenceDemand } from '../catalog/element-demand.ts'
import type { InferenceCosts } from '../inference/inference.ts'
import type { SourceCost } from '../media/media-client.ts'
import type { SourcePlan } from '../plan/plan.ts'

/**
 * The CPU time that sources, elements and models use for a frame, in ms, as measured on
 * this machine. The costs predict the load of a configuration. A cost is undefined if it
 * has not been measured yet.
 */
export interface KnownCosts {
  sourceCost(source: SourcePlan): SourceCost | undefined
  elementCost(name: string, version: string): number | undefined
  inferenceCost(demand: InferenceDemand): number | undefined
}

/** The measured costs, and the methods that record measurements. */
export interface Costs extends InferenceCosts, KnownCosts {
  recordElement(element: string, version: string, ms: number): void
  recordDecoding(source: SourcePlan, cost: SourceCost): void
  toTable(): CostTable
  /** Increases with every measurement. */
  readonly revision: number
}

/** Values that are older than about this number of newer ones have little weight in an average. */
const AVERAGE_WINDOW = 200

/** A moving average, in which new values gradually replace old ones. */
export interface Average {
  mean: number
  /** Number of averaged values, up to `AVERAGE_WINDOW`. */
  count: number
}

/** The measured quantities of one source, model or element, such as `ms` of CPU time per frame. */
export type Measurement = Record<string, Average>

/**
 * Measurements by a key that does not depend on ids: sources are identified by address, models by
 * the digest of their file.
 */
export type CostTable = Record<string, Measurement>

/**
 * Averages of fewer frames are not used, because the first frames of a model or element cost
 * more than later ones.
 */
const MIN_FRAMES = 50
/** Beyond this number of entries, the least recently measured entry is removed. */
const MAX_ENTRIES = 2000

/** Creates the costs. `initial` are the costs that earlier runs of the engine have measured. */
export function createCosts(initial: CostTable = {}): Costs {
  /** The least recently measured entry is first. */
  const table = new Map(Object.entries(initial))
  let revision = 0

  const record = (key: string, values: Record<string, number | undefined>) => {
    const measurement = { ...table.get(key) }
    for (const [name, value] of Object.entries(values)) {
      if (value !== undefined) measurement[name] = addToAverage(measurement[name], value)
    }

    // Deleting the key first moves the entry to the end of the table.
    table.delete(key)
    table.set(key, measurement)
    for (const oldestKey of table.keys()) {
      if (table.size <= MAX_ENTRIES) break
      table.delete(oldestKey)
    }
    revision++
  }

  return {
    recordInference: ({ sha256, device, size }, ms) =>
      record(toInferencePrefix(sha256, device) + formatSize(size), { ms }),
    recordElement: (element, version, ms) => record(toElementKey(element, version), { ms }),
    recordDecoding: (source, { fps, decodeMs, scaleMs }) =>
      record(toSourceKey(source), { fps, decodeMs, scaleMs }),

    sourceCost: source => toSourceCost(table.get(toSourceKey(source))),
    elementCost: (name, version) => toReliableMs(table.get(toElementKey(name, version))),
    inferenceCost: demand => findInferenceCost(table, demand),

    toTable: () => Object.fromEntries(table),
    get revision() {
      return revision
    },
  }
}

/**
 * Finds the cost of running a model on a picture. The width or the height of the picture may be
 * unknown. Of all measured sizes that match what is known, the cheapest is assumed.
 */
function findInferenceCost(
  table: ReadonlyMap<string, Measurement>,
  { sha256, device, view }: InferenceDemand,
): number | undefined {
  const prefix = toInferencePrefix(sha256, device)
  const costs: number[] = []
  for (const [key, measurement] of table) {
    if (!key.startsWith(prefix)) continue
    const [width, height] = parseSize(key.slice(prefix.length))
    const matchesWidth = !view.width || view.width === width
    const matchesHeight = !view.height || view.height === height
    const ms = toReliableMs(measurement)
    if (ms !== undefined && matchesWidth && matchesHeight) costs.push(ms)
  }
  return costs.length > 0 ? Math.min(...costs) : undefined
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

// The keys of the table: sources, elements, and models at one size of pictures.

const formatSize = ({ width, height }: { width: number; height: number }) => `${width}x${height}`
const parseSize = (text: string) => text.split('x').map(Number)

/** All sizes at which a model was measured have keys with this prefix, followed by the size. */
const toInferencePrefix = (sha256: string, device: string) => `inference ${sha256} ${device} `
const toElementKey = (name: string, version: string) => `element ${name} ${version}`

/**
 * The key contains a digest of the address without credentials, because the file of costs is not as
 * well protected as the configuration.
 */
function toSourceKey({
  type,
  address,
  decoder,
}: Pick<SourcePlan, 'type' | 'address' | 'decoder'>): string {
  // The sub stream, if there is one, is the stream that is decoded.
  const identity = JSON.stringify([
    type,
    removeCredentials(address.sub_url ?? address.url),
    decoder,
  ])
  return `source ${createHash('sha256').update(identity).digest('hex')}`
}

/** Removes the user name and password from a URL. */
export const removeCredentials = (url: string) =>
  url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1')
