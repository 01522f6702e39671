import type { Drift } from '@eyrie/contract/management/index'
import { apply, type Refusal, type Resource } from './apply-steps.ts'
import type { Wanted } from './desired-state.ts'
import { type Difference, differenceOf, type Found, type Step } from './difference.ts'
import type { Kind, Provisions } from './provisions.ts'

export interface Settling<Fields> {
  resource: Resource<Fields>
  wanted: readonly Wanted<Fields>[]
  found: readonly Found<Fields>[]
  provisions: Provisions<Fields>
  shown(fields: Fields): Fields
  repair: boolean
}

export interface Settled {
  drift: Drift[]
  /** Takes away what is wanted no longer: when nothing refers to it any more. */
  removeRest(): Promise<Drift[]>
}

/** Makes one kind of what an engine has what is wanted; what is wanted no longer stays until `removeRest`. */
export async function reconcileKind<Fields extends object>(settling: Settling<Fields>): Promise<Settled> {
  const { resource, found, provisions } = settling
  const { kind } = resource
  const difference: Difference<Fields> = differenceOf({ ...settling, made: provisions.all() })
  const newest = Math.max(0, ...found.map(({ id }) => id))
  const run = async (steps: Step<Fields>[]) =>
    (await apply(steps, { resource, provisions, newest })).map(refusal => refused(kind, refusal))
  const isRemoval = ({ step }: Step<Fields>) => step === 'remove' || step === 'forget'

  const refusals = await run(difference.steps.filter(step => !isRemoval(step)))
  return {
    drift: [...difference.drift.map((each): Drift => ({ ...each, record: kind, reason: '' })), ...refusals],
    removeRest: () => run(difference.steps.filter(isRemoval)),
  }
}

export const refused = (record: Kind, refusal: Refusal): Drift => ({
  record,
  field: '',
  stored: null,
  found: null,
  ...refusal,
})
