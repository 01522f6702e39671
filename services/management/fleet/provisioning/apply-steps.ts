import { isDeepStrictEqual } from 'node:util'
import { type ErrorCode, EyrieError } from '@eyrie/contract'
import type { Found, Step } from './difference.ts'
import type { Kind, Provisions } from './provisions.ts'

/** One kind of what an engine has, by single operations. */
export interface Resource<Fields> {
  kind: Kind
  create(fields: Fields): Promise<{ id: number }>
  /** As it is now, with its tag. */
  get(sid: number): Promise<{ found: Found<Fields>; etag: string | undefined }>
  modify(
    sid: number,
    patch: Partial<Fields>,
    found: Found<Fields>,
    ifMatch: string | undefined,
  ): Promise<unknown>
  remove(sid: number, ifMatch: string | undefined): Promise<unknown>
}

/** What the engine did not take. */
export interface Refusal {
  record_id: string
  name: string
  sid: number | null
  reason: string
}

/** Errors that do not lie in the one record: nothing else will come to pass either. */
const general: ReadonlySet<ErrorCode> = new Set(['unavailable', 'auth', 'internal', 'precondition'])

export interface Application<Fields> {
  resource: Resource<Fields>
  provisions: Provisions<Fields>
  /** Greatest id of this kind on the engine. */
  newest: number
}

/** Does steps one after the other. What the engine refuses is told; where it is the engine that fails, this throws. */
export async function apply<Fields extends object>(
  steps: readonly Step<Fields>[],
  application: Application<Fields>,
): Promise<Refusal[]> {
  const refusals: Refusal[] = []
  for (const step of steps) {
    try {
      await take(step, application)
    } catch (error) {
      if (!(error instanceof EyrieError) || general.has(error.code)) throw error
      if (step.step === 'create') await application.provisions.forget(step.record.record_id)
      const name = 'name' in step.record ? step.record.name : ''
      const sid = 'found' in step ? step.found.id : null
      refusals.push({ record_id: step.record.record_id, name, sid, reason: error.message })
    }
  }
  return refusals
}

async function take<Fields extends object>(
  step: Step<Fields>,
  { resource, provisions, newest }: Application<Fields>,
): Promise<void> {
  const { record_id } = step.record
  switch (step.step) {
    case 'create': {
      const { fields } = step.record
      await provisions.intend(record_id, newest, fields)
      const { id } = await resource.create(fields)
      return provisions.made(record_id, id, fields)
    }
    case 'adopt':
      return provisions.made(record_id, step.found.id, step.record.applied)
    case 'change': {
      const ifMatch = await unchanged(resource, step.found)
      await resource.modify(step.found.id, step.fields, step.found, ifMatch)
      const applied = { ...provisions.get(record_id)!.applied, ...step.fields }
      return provisions.made(record_id, step.found.id, applied)
    }
    case 'remove':
      await resource.remove(step.found.id, await unchanged(resource, step.found))
      return provisions.forget(record_id)
    case 'forget':
      return provisions.forget(record_id)
  }
}

/** The tag of what is there, which has to be what the step goes by. Throws EyrieError `precondition` where it is not. */
async function unchanged<Fields extends object>(
  resource: Resource<Fields>,
  found: Found<Fields>,
): Promise<string | undefined> {
  const now = await resource.get(found.id)
  if (!isDeepStrictEqual(now.found, found))
    throw new EyrieError('precondition', `${resource.kind} ${found.id} is being changed on the engine`)
  return now.etag
}
