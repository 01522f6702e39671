import { EyrieError } from '@eyrie/contract'
import type { CapacityShortage } from '@eyrie/contract/capacity'
import type { Plan } from '../plan/plan.ts'
import type { KnownCosts } from './costs.ts'
import { type DemandOf, type Load, loadOf } from './load.ts'

/** Says before anything is changed whether the machine can do it. */
export interface Admission {
  /** What there is for channels, in cores. */
  readonly cores: number
  loadOf(plan: Plan): Load
  /** Throws EyrieError `capacity` if `after` needs more than there is, and more than `before` does. */
  check(before: Plan, after: Plan): void
}

export interface AdmissionOptions {
  cores: number
  costs: KnownCosts
  demandOf: DemandOf
}

export function createAdmission({ cores, costs, demandOf }: AdmissionOptions): Admission {
  const load = (plan: Plan) => loadOf(plan, costs, demandOf)
  return {
    cores,
    loadOf: load,
    check: (before, after) => {
      const shortage = shortageOf(load(before), load(after), cores)
      if (shortage) throw new EyrieError('capacity', reasonFor(shortage), { value: shortage })
    },
  }
}

/** Sums of the same costs in another order differ by this share at most. */
const ROUNDING = 1e-9

/** undefined if the change is admitted: it fits, or asks for no more than what runs. */
export function shortageOf(before: Load, after: Load, available: number): CapacityShortage | undefined {
  if (after.cores <= available || after.cores <= before.cores * (1 + ROUNDING)) return undefined
  const { decoding, inference, elements, unknown } = after
  return {
    needed: hundredths(after.cores),
    available: hundredths(available),
    decoding: hundredths(decoding),
    inference: hundredths(inference),
    elements: hundredths(elements),
    unknown,
  }
}

function reasonFor({ needed, available, decoding, inference, elements }: CapacityShortage): string {
  return (
    `all channels together would need ${needed} cores, and there are ${available}: decoding ${decoding}, ` +
    `inference ${inference}, elements ${elements}. Lower the rate of sources, take a smaller model, or use ` +
    '?override=capacity and have frames dropped'
  )
}

const hundredths = (value: number) => Math.round(value * 100) / 100
