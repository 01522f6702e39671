import { createHash } from 'node:crypto'
import type { ElementDemand } from '../catalog/element-demand.ts'
import type { InferenceCosts } from '../inference/inference.ts'
import type { SourceCost } from '../media/media-client.ts'
import type { SourcePlan } from '../plan/plan.ts'

/** A mean that follows changes: of all values while there are few, then of about the last `AVERAGED`. */
export interface Average {
  mean: number
  /** How many values it is made of, up to `AVERAGED`. */
  count: number
}

const AVERAGED = 200

/** One kind of thing that was measured: its average CPU time and other figures, by name. */
export type Measured = Record<string, Average>

/** What was measured, by keys that outlive ids: a source is known by its address, a model by its file. */
export type CostTable = Record<string, Measured>

/** Costs in ms of CPU time per frame; undefined if never measured. */
export interface KnownCosts {
  source(plan: SourcePlan): SourceCost | undefined
  element(name: string, version: string): number | undefined
  inference(demand: NonNullable<ElementDemand['inference']>): number | undefined
}

export interface Costs extends InferenceCosts, KnownCosts {
  processed(element: string, version: string, ms: number): void
  decoded(source: SourcePlan, cost: SourceCost): void
  table(): CostTable
  /** Changes whenever something was measured. */
  readonly revision: number
}

/** The first frames of a model or element are dearer than the rest: fewer than these are no measurement. */
const FRAMES_TOLD = 50
/** Of more, those that were measured longest ago are forgotten. */
const MOST = 2000

/** What frames have cost on this machine. */
export function createCosts(known: CostTable = {}): Costs {
  const table = new Map(Object.entries(known))
  let revision = 0

  const add = (key: string, values: Record<string, number | undefined>) => {
    const before = table.get(key) ?? {}
    const after = { ...before }
    for (const [name, value] of Object.entries(values))
      if (value !== undefined) after[name] = addToAverage(before[name], value)
    // At the end of the map stands what was measured last.
    table.delete(key)
    table.set(key, after)
    for (const oldest of table.keys()) {
      if (table.size <= MOST) break
      table.delete(oldest)
    }
    revision++
  }
  const told = (measured: Measured | undefined) =>
    measured?.ms && measured.ms.count >= FRAMES_TOLD ? measured.ms.mean : undefined

  return {
    inferred: ({ sha256, device, size }, ms) =>
      add(`${inferenceKey(sha256, device)}${size.width}x${size.height}`, { ms }),
    processed: (element, version, ms) => add(elementKey(element, version), { ms }),
    decoded: (source, { fps, decodeMs, scaleMs }) => add(sourceKey(source), { fps, decodeMs, scaleMs }),

    source: plan => sourceCost(table.get(sourceKey(plan))),
    element: (name, version) => told(table.get(elementKey(name, version))),
    inference: ({ sha256, device, view }) => {
      const prefix = inferenceKey(sha256, device)
      const costs = [...table].flatMap(([key, measured]) => {
        if (!key.startsWith(prefix)) return []
        const [width, height] = key.slice(prefix.length).split('x').map(Number)
        const fits = (asked: number | undefined, is: number | undefined) => !asked || asked === is
        const ms = told(measured)
        return ms !== undefined && fits(view.width, width) && fits(view.height, height) ? [ms] : []
      })
      // Which height a picture's shape leads to shows when it is there; until then the cheapest counts.
      return costs.length > 0 ? Math.min(...costs) : undefined
    },

    table: () => Object.fromEntries(table),
    get revision() {
      return revision
    },
  }
}

function sourceCost(measured: Measured | undefined): SourceCost | undefined {
  if (!measured?.fps || !measured.decodeMs) return undefined
  return {
    fps: measured.fps.mean,
    decodeMs: measured.decodeMs.mean,
    ...(measured.scaleMs && { scaleMs: measured.scaleMs.mean }),
  }
}

function addToAverage(before: Average | undefined, value: number): Average {
  const { mean, count } = before ?? { mean: 0, count: 0 }
  const next = Math.min(count + 1, AVERAGED)
  return { mean: mean + (value - mean) / next, count: next }
}

const inferenceKey = (sha256: string, device: string) => `inference ${sha256} ${device} `
const elementKey = (name: string, version: string) => `element ${name} ${version}`

/** The address as a digest, without credentials: the file of costs is read by more people than the configuration is. */
function sourceKey({ type, address, decoder }: Pick<SourcePlan, 'type' | 'address' | 'decoder'>): string {
  const identity = JSON.stringify([type, withoutCredentials(address.url), decoder])
  return `source ${createHash('sha256').update(identity).digest('hex')}`
}

export const withoutCredentials = (url: string) => url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1')
