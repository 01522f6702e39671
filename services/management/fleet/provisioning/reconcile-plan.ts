import { isDeepStrictEqual } from 'node:util'
import type { DesiredRecord } from './desired-state.ts'

/**
 * The provision of a stored record: the object that the management service has created
 * for it on the engine.
 */
export interface ProvisionedObject<Fields> {
  record_id: string
  /** Id on the engine. Null: the creation has started, and its outcome is unknown. */
  sid: number | null
  /** The highest id on the engine before the creation: the created object has a higher id. */
  made_after: number
  /** The fields as last written to the engine. */
  applied: Fields
}

/** An object on the engine. It may have been created by another client. */
export type ActualObject<Fields> = { id: number } & Partial<Fields>

/** One change to the objects on the engine or to the provisions. */
export type Step<Fields> =
  | { action: 'create'; record: DesiredRecord<Fields> }
  /** Stores the id of an object whose creation was interrupted before its id was stored. */
  | { action: 'adopt'; provision: ProvisionedObject<Fields>; actual: ActualObject<Fields> }
  | {
      action: 'update'
      record: DesiredRecord<Fields>
      provision: ProvisionedObject<Fields>
      actual: ActualObject<Fields>
      /** The fields to write. */
      fields: Partial<Fields>
    }
  | { action: 'remove'; provision: ProvisionedObject<Fields>; actual: ActualObject<Fields> }
  /** Deletes the provision of an object that no longer exists on the engine. */
  | { action: 'discard'; provision: ProvisionedObject<Fields> }

/** A field that another client has changed on the engine. */
export interface FieldDrift {
  record_id: string
  name: string
  sid: number
  field: string
  /** The stored value. Null if the field is not set. */
  stored: unknown
  /** The value on the engine. Null if the field is not set. */
  found: unknown
}

export interface ReconcilePlan<Fields> {
  steps: Step<Fields>[]
  drift: FieldDrift[]
}

export interface PlanInput<Fields> {
  desired: readonly DesiredRecord<Fields>[]
  provisioned: readonly ProvisionedObject<Fields>[]
  actual: readonly ActualObject<Fields>[]
  /** Hides secrets in the same way as the engine's responses. */
  redact(fields: Fields): Fields
  /** Overwrites changes made on the engine. */
  repair: boolean
}

/**
 * Plans the steps that turn the actual objects on an engine into the desired ones. A field is
 * written when its stored value has changed since the last write. A field that another client has
 * changed on the engine is reported as drift and is written only on repair. Missing objects are
 * created again. Objects that other clients have created remain untouched.
 */
export function planReconciliation<Fields extends object>(
  input: PlanInput<Fields>,
): ReconcilePlan<Fields> {
  const { desired, provisioned, actual, redact } = input
  const steps: Step<Fields>[] = []
  const drift: FieldDrift[] = []
  const provisionedByRecord = new Map(provisioned.map(object => [object.record_id, object]))
  const actualBySid = new Map(actual.map(object => [object.id, object]))
  /** Ids of objects that already belong to a record. */
  const claimedSids = new Set(provisioned.flatMap(({ sid }) => sid ?? []))

  /**
   * Finds the object of a record on the engine. Adopts the object if its creation was interrupted.
   */
  function findOrAdopt(provision: ProvisionedObject<Fields>): ActualObject<Fields> | undefined {
    if (provision.sid !== null) return actualBySid.get(provision.sid)

    const writtenFields = redact(provision.applied)
    const isCreated = (object: ActualObject<Fields>) =>
      object.id > provision.made_after &&
      !claimedSids.has(object.id) &&
      hasFields(object, writtenFields)
    const created = actual.find(isCreated)
    if (!created) return undefined

    claimedSids.add(created.id)
    steps.push({ action: 'adopt', provision, actual: created })
    return created
  }

  for (const record of desired) {
    const provision = provisionedByRecord.get(record.record_id)
    const object = provision && findOrAdopt(provision)
    if (!provision || !object) {
      steps.push({ action: 'create', record })
      continue
    }

    const { fields, drifted } = compareFields(record, provision, object, input)
    drift.push(...drifted)
    if (Object.keys(fields).length > 0) {
      steps.push({ action: 'update', record, provision, actual: object, fields })
    }
  }

  const desiredIds = new Set(desired.map(({ record_id }) => record_id))
  for (const provision of provisioned) {
    if (desiredIds.has(provision.record_id)) continue
    const object = findOrAdopt(provision)
    if (object) steps.push({ action: 'remove', provision, actual: object })
    else steps.push({ action: 'discard', provision })
  }
  return { steps, drift }
}

/** Returns the fields to write and the fields that another client has changed. */
function compareFields<Fields extends object>(
  record: DesiredRecord<Fields>,
  provision: ProvisionedObject<Fields>,
  object: ActualObject<Fields>,
  { redact, repair }: PlanInput<Fields>,
): { fields: Partial<Fields>; drifted: FieldDrift[] } {
  const redacted = redact(record.fields)
  const fields: Partial<Fields> = {}
  const drifted: FieldDrift[] = []
  for (const field of Object.keys(record.fields) as (keyof Fields & string)[]) {
    const isNewValue = !isDeepStrictEqual(record.fields[field], provision.applied[field])
    const differsOnEngine = !isDeepStrictEqual(object[field], redacted[field])
    // A secret cannot be compared, because the engine hides it. A repair always writes it.
    const isSecret = !isDeepStrictEqual(record.fields[field], redacted[field])
    if (isNewValue || (repair && (differsOnEngine || isSecret))) {
      fields[field] = record.fields[field]
    } else if (differsOnEngine) {
      drifted.push({
        record_id: record.record_id,
        name: record.name,
        sid: object.id,
        field,
        stored: redacted[field] ?? null,
        found: object[field] ?? null,
      })
    }
  }
  return { fields, drifted }
}

/**
 * Returns the provisioned objects that the engine still has, with the fields as last written. The
 * id alone is not enough: an engine that has lost its data assigns the same ids again.
 */
export const findIntactObjects = <Fields extends object>(
  provisioned: readonly ProvisionedObject<Fields>[],
  actual: readonly ActualObject<Fields>[],
  redact: (fields: Fields) => Fields,
): ProvisionedObject<Fields>[] =>
  provisioned.filter(({ sid, applied }) =>
    actual.some(object => object.id === sid && hasFields(object, redact(applied))),
  )

const hasFields = <Fields extends object>(object: ActualObject<Fields>, fields: Fields) =>
  (Object.keys(fields) as (keyof Fields)[]).every(field =>
    isDeepStrictEqual(object[field], fields[field]),
  )
