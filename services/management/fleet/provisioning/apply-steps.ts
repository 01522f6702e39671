import { isDeepStrictEqual } from 'node:util'
import { type ErrorCode, EyrieError } from '@eyrie/contract'
import type { ProvisionStore, ResourceKind } from './provision-store.ts'
import type { ActualObject, Step } from './reconcile-plan.ts'

/**
 * Operations on the objects of one kind, sources or pipelines, on an engine. A `sid` is an id that
 * the engine has assigned. `ifMatch` is an ETag: the operation fails if the object has changed
 * since the ETag was read.
 */
export interface EngineResource<Fields> {
  kind: ResourceKind
  /** Creates the object of a stored record. */
  create(fields: Fields, recordId: string): Promise<{ id: number }>
  /** Resolves to the current object and its ETag. */
  get(sid: number): Promise<{ object: ActualObject<Fields>; etag: string | undefined }>
  update(
    sid: number,
    patch: Partial<Fields>,
    current: ActualObject<Fields>,
    ifMatch: string | undefined,
  ): Promise<unknown>
  remove(sid: number, ifMatch: string | undefined): Promise<unknown>
}

/** A stored record that the engine does not accept, with the engine's reason. */
export interface Rejection {
  record_id: string
  name: string
  sid: number | null
  reason: string
}

/** Codes of errors that concern the whole engine, so that the remaining steps would fail too. */
const FATAL_CODES: ReadonlySet<ErrorCode> = new Set([
  'unavailable',
  'auth',
  'internal',
  'precondition',
])

/** What the steps of a reconciliation work on: the objects of one kind on one engine. */
export interface ApplyContext<Fields> {
  resource: EngineResource<Fields>
  /** Records which objects the management service has created on the engine. */
  provisions: ProvisionStore<Fields>
  /** The highest id of this kind on the engine. */
  maxSid: number
}

/**
 * Executes the steps of a plan in order. They make the objects on an engine match the stored
 * records. Returns the records that the engine has rejected. Throws `EyrieError` when the
 * engine itself fails.
 */
export async function applySteps<Fields extends object>(
  steps: readonly Step<Fields>[],
  context: ApplyContext<Fields>,
): Promise<Rejection[]> {
  const rejections: Rejection[] = []
  for (const step of steps) {
    try {
      await applyStep(step, context)
    } catch (error) {
      if (!(error instanceof EyrieError) || FATAL_CODES.has(error.code)) throw error
      // The engine has created nothing: the intent that `applyStep` has recorded is void.
      if (step.action === 'create') await context.provisions.delete(step.record.record_id)
      rejections.push(toRejection(step, error.message))
    }
  }
  return rejections
}

function toRejection<Fields>(step: Step<Fields>, reason: string): Rejection {
  // Only steps that create or update an object have its record. A provision has no name.
  const { record_id, name } = 'record' in step ? step.record : { ...step.provision, name: '' }
  const sid = 'actual' in step ? step.actual.id : null
  return { record_id, name, sid, reason }
}

async function applyStep<Fields extends object>(
  step: Step<Fields>,
  { resource, provisions, maxSid }: ApplyContext<Fields>,
): Promise<void> {
  switch (step.action) {
    case 'create': {
      const { record_id: recordId, fields } = step.record
      // If this process crashes before `recordApplied`, the next plan finds the created object by
      // the intent, and adopts it.
      await provisions.recordIntent(recordId, maxSid, fields)
      const { id } = await resource.create(fields, recordId)
      return provisions.recordApplied(recordId, id, fields)
    }

    case 'adopt': {
      const { record_id: recordId, applied } = step.provision
      return provisions.recordApplied(recordId, step.actual.id, applied)
    }

    case 'update': {
      const ifMatch = await readUnchangedEtag(resource, step.actual)
      await resource.update(step.actual.id, step.fields, step.actual, ifMatch)
      const applied = { ...step.provision.applied, ...step.fields }
      return provisions.recordApplied(step.record.record_id, step.actual.id, applied)
    }

    case 'remove': {
      const ifMatch = await readUnchangedEtag(resource, step.actual)
      await resource.remove(step.actual.id, ifMatch)
      return provisions.delete(step.provision.record_id)
    }

    case 'discard':
      return provisions.delete(step.provision.record_id)
  }
}

/**
 * Returns the ETag of an object that is about to be changed. Throws `EyrieError` (`precondition`)
 * if the object has changed since the plan was made.
 */
async function readUnchangedEtag<Fields extends object>(
  resource: EngineResource<Fields>,
  planned: ActualObject<Fields>,
): Promise<string | undefined> {
  const { object, etag } = await resource.get(planned.id)
  if (!isDeepStrictEqual(object, planned)) {
    throw new EyrieError(
      'precondition',
      `${resource.kind} ${planned.id} was changed on the engine during the reconciliation`,
    )
  }
  return etag
}
