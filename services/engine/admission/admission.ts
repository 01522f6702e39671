import { EyrieError } from '@eyrie/contract'
import type { CapacityShortage } from '@eyrie/contract/capacity'
import type { Plan } from '../plan/plan.ts'
import { roundToHundredths } from '../statistics/round.ts'
import type { KnownCosts } from './costs.ts'
import { estimateLoad, type FindDemands, type Load } from './load.ts'

/** Relative tolerance for rounding errors, which depend on the order in which costs are summed. */
const ROUNDING_ERROR = 1e-9

/**
 * Checks that the machine has the capacity for a configuration, before the
 * configuration is applied.
 */
export interface Admission {
  /** Capacity for channels, in CPU cores. */
  readonly cores: number
  /** Predicts the load of all channels of a plan. */
  estimateLoad(plan: Plan): Load
  /**
   * Predicts the load of a source and its channels in CPU cores. Undefined if a part of it
   * has not been measured.
   */
  estimateSourceLoad(plan: Plan, source: number): number | undefined
  /**
   * Throws `EyrieError` (`capacity`) if `after` exceeds the capacity and needs more than `before`.
   */
  check(before: Plan, after: Plan): void
  /**
   * Checks a change of what the elements of a plan compute, for example of their models. Throws
   * `EyrieError` (`capacity`) as `check` does.
   */
  checkDemands(plan: Plan, findDemands: FindDemands): void
}

export interface AdmissionOptions {
  /** Capacity for channels, in CPU cores. */
  cores: number
  costs: KnownCosts
  findDemands: FindDemands
}

export function createAdmission({ cores, costs, findDemands }: AdmissionOptions): Admission {
  const estimate = (plan: Plan) => estimateLoad(plan, costs, findDemands)
  return {
    cores,
    estimateLoad: estimate,
    estimateSourceLoad: (plan, source) => {
      const load = estimate(selectSource(plan, source))
      return load.unknown.length > 0 ? undefined : load.cores
    },
    check: (before, after) => assertFits(estimate(before), estimate(after), cores),
    checkDemands: (plan, demands) =>
      assertFits(estimate(plan), estimateLoad(plan, costs, demands), cores),
  }
}

function assertFits(before: Load, after: Load, cores: number): void {
  const shortage = findShortage(before, after, cores)
  if (shortage) throw new EyrieError('capacity', describeShortage(shortage), { value: shortage })
}

/** Reduces a plan to one source and its channels. */
function selectSource(plan: Plan, source: number): Plan {
  const channels = plan.channels.filter(channel => channel.source === source)
  const used = new Set(channels.map(({ pipeline }) => pipeline))
  return {
    ...plan,
    sources: plan.sources.filter(({ id }) => id === source),
    pipelines: plan.pipelines.filter(({ id }) => used.has(id)),
    channels,
  }
}

/**
 * Returns the shortage of capacity after a change; undefined if the load fits, or is
 * not higher than before.
 */
export function findShortage(
  before: Load,
  after: Load,
  available: number,
): CapacityShortage | undefined {
  if (after.cores <= available || after.cores <= before.cores * (1 + ROUNDING_ERROR)) {
    return undefined
  }
  const { decoding, inference, elements, unknown } = after
  return {
    needed: roundToHundredths(after.cores),
    available: roundToHundredths(available),
    decoding: roundToHundredths(decoding),
    inference: roundToHundredths(inference),
    elements: roundToHundredths(elements),
    unknown,
  }
}

function describeShortage({
  needed,
  available,
  decoding,
  inference,
  elements,
}: CapacityShortage): string {
  return (
    `all channels together would need ${needed} cores, but only ${available} are available: decoding ${decoding}, ` +
    `inference ${inference}, elements ${elements}. Lower the rate of sources, use a smaller model, or add ` +
    '?override=capacity to accept dropped frames'
  )
}
