import { isDeepStrictEqual } from 'node:util'
import { type ErrorCode, EyrieError } from '@eyrie/contract'
import type { ProvisionStore, ResourceKind } from './provision-store.ts'
import type { ActualObject, Step } from './reconcile-plan.ts'

/** CRUD operations on one kind of object on the engine. */
export interface EngineResource<Fields> {
  kind: ResourceKind
  create(fields: Fields): Promise<{ id: number }>
  /** The current object and its ETag. */
  get(sid: number): Promise<{ object: ActualObject<Fields>; etag: string | undefined }>
  update(
    sid: number,
    patch: Partial<Fields>,
    current: ActualObject<Fields>,
    ifMatch: string | undefined,
  ): Promise<unknown>
  remove(sid: number, ifMatch: string | undefined): Promise<unknown>
}

/** A record that the engine has rejected. */
export interface Rejection {
  record_id: string
  name: string
  sid: number | null
  reason: string
}

/** Errors that concern the engine as a whole: the remaining steps would fail as well. */
const fatalCodes: ReadonlySet<ErrorCode> = new Set(['unavailable', 'auth', 'internal', 'precondition'])

export interface ApplyContext<Fields> {
  resource: EngineResource<Fields>
  provisions: ProvisionStore<Fields>
  /** The highest id of this kind on the engine. */
  maxSid: number
}

/** Executes steps in order. Returns the records that the engine rejects; throws `EyrieError` when the engine itself fails. */
export async function applySteps<Fields extends object>(
  steps: readonly Step<Fields>[],
  context: ApplyContext<Fields>,
): Promise<Rejection[]> {
  const rejections: Rejection[] = []
  for (const step of steps) {
    try {
      await applyStep(step, context)
    } catch (error) {
      if (!(error instanceof EyrieError) || fatalCodes.has(error.code)) throw error
      const { record_id } = step.record
      if (step.action === 'create') await context.provisions.delete(record_id)
      const name = 'name' in step.record ? step.record.name : ''
      const sid = 'actual' in step ? step.actual.id : null
      rejections.push({ record_id, name, sid, reason: error.message })
    }
  }
  return rejections
}

async function applyStep<Fields extends object>(
  step: Step<Fields>,
  { resource, provisions, maxSid }: ApplyContext<Fields>,
): Promise<void> {
  const { record_id } = step.record
  switch (step.action) {
    case 'create': {
      const { fields } = step.record
      await provisions.recordIntent(record_id, maxSid, fields)
      const { id } = await resource.create(fields)
      return provisions.recordApplied(record_id, id, fields)
    }
    case 'adopt':
      return provisions.recordApplied(record_id, step.actual.id, step.record.applied)
    case 'update': {
      const ifMatch = await assertUnchanged(resource, step.actual)
      await resource.update(step.actual.id, step.fields, step.actual, ifMatch)
      const applied = { ...provisions.get(record_id)!.applied, ...step.fields }
      return provisions.recordApplied(record_id, step.actual.id, applied)
    }
    case 'remove':
      await resource.remove(step.actual.id, await assertUnchanged(resource, step.actual))
      return provisions.delete(record_id)
    case 'forget':
      return provisions.delete(record_id)
  }
}

/** Returns the ETag of an object. Throws `EyrieError` (`precondition`) when the object differs from the planned one. */
async function assertUnchanged<Fields extends object>(
  resource: EngineResource<Fields>,
  planned: ActualObject<Fields>,
): Promise<string | undefined> {
  const { object, etag } = await resource.get(planned.id)
  if (!isDeepStrictEqual(object, planned))
    throw new EyrieError(
      'precondition',
      `${resource.kind} ${planned.id} was changed on the engine during the reconciliation`,
    )
  return etag
}
