import { isDeepStrictEqual } from 'node:util'
import type { DesiredRecord } from './desired-state.ts'

/** The object that management has created on the engine for a record, as last written. */
export interface Provisioned<Fields> {
  record_id: string
  /** Id on the engine; null: creation has started, its outcome is unknown. */
  sid: number | null
  /** The highest id on the engine before the creation. */
  made_after: number
  applied: Fields
}

/** An object on the engine, which may have been created by another client. */
export type ActualObject<Fields> = { id: number } & Partial<Fields>

export type Step<Fields> =
  | { action: 'create'; record: DesiredRecord<Fields> }
  /** The object was created, but management stopped before it stored the id. */
  | { action: 'adopt'; record: Provisioned<Fields>; actual: ActualObject<Fields> }
  | {
      action: 'update'
      record: DesiredRecord<Fields>
      actual: ActualObject<Fields>
      fields: Partial<Fields>
    }
  | { action: 'remove'; record: Provisioned<Fields>; actual: ActualObject<Fields> }
  /** The object no longer exists: only its provision is deleted. */
  | { action: 'forget'; record: Provisioned<Fields> }

/** A field that another client has changed on the engine. */
export interface FieldDrift {
  record_id: string
  name: string
  sid: number
  field: string
  /** Null when the field is not set; likewise `found`. */
  stored: unknown
  /** The value on the engine. */
  found: unknown
}

export interface ReconcilePlan<Fields> {
  steps: Step<Fields>[]
  drift: FieldDrift[]
}

export interface PlanInput<Fields> {
  desired: readonly DesiredRecord<Fields>[]
  provisioned: readonly Provisioned<Fields>[]
  actual: readonly ActualObject<Fields>[]
  /** Hides secrets in the same way as the engine does when it shows fields. */
  redact(fields: Fields): Fields
  /** Overwrites changes made on the engine. */
  repair: boolean
}

/**
 * Plans the steps from the actual to the desired state. A field whose stored value differs from the value last written is
 * written. A field that differs on the engine alone was changed there: it is reported as drift, and written only on repair.
 * Missing objects are created again. Objects of other clients are left alone.
 */
export function planReconciliation<Fields extends object>(input: PlanInput<Fields>): ReconcilePlan<Fields> {
  const { desired, provisioned, actual, redact } = input
  const steps: Step<Fields>[] = []
  const drift: FieldDrift[] = []
  const provisionedByRecord = new Map(provisioned.map(each => [each.record_id, each]))
  const actualBySid = new Map(actual.map(object => [object.id, object]))
  const claimedSids = new Set(provisioned.flatMap(({ sid }) => sid ?? []))

  /** Finds the object of a record; adopts the one that an interrupted creation has left. */
  function findActual(record: Provisioned<Fields>): ActualObject<Fields> | undefined {
    if (record.sid !== null) return actualBySid.get(record.sid)
    const written = redact(record.applied)
    const created = actual.find(
      object => object.id > record.made_after && !claimedSids.has(object.id) && hasFields(object, written),
    )
    if (!created) return undefined
    claimedSids.add(created.id)
    steps.push({ action: 'adopt', record, actual: created })
    return created
  }

  for (const record of desired) {
    const known = provisionedByRecord.get(record.record_id)
    const object = known && findActual(known)
    if (!known || !object) {
      steps.push({ action: 'create', record })
      continue
    }
    const { fields, drifted } = compareFields(record, known, object, input)
    drift.push(...drifted)
    if (Object.keys(fields).length > 0) steps.push({ action: 'update', record, actual: object, fields })
  }

  const desiredIds = new Set(desired.map(({ record_id }) => record_id))
  for (const record of provisioned) {
    if (desiredIds.has(record.record_id)) continue
    const object = findActual(record)
    steps.push(object ? { action: 'remove', record, actual: object } : { action: 'forget', record })
  }
  return { steps, drift }
}

/** Returns the fields to write and the fields that have drifted. */
function compareFields<Fields extends object>(
  record: DesiredRecord<Fields>,
  known: Provisioned<Fields>,
  object: ActualObject<Fields>,
  { redact, repair }: PlanInput<Fields>,
): { fields: Partial<Fields>; drifted: FieldDrift[] } {
  const redacted = redact(record.fields)
  const fields: Partial<Fields> = {}
  const drifted: FieldDrift[] = []
  for (const field of Object.keys(record.fields) as (keyof Fields & string)[]) {
    const isChanged = !isDeepStrictEqual(record.fields[field], known.applied[field])
    const differs = !isDeepStrictEqual(object[field], redacted[field])
    // A hidden value cannot be compared: a repair always writes it.
    const isSecret = !isDeepStrictEqual(record.fields[field], redacted[field])
    if (isChanged || (repair && (differs || isSecret))) fields[field] = record.fields[field]
    else if (differs)
      drifted.push({
        record_id: record.record_id,
        name: record.name,
        sid: object.id,
        field,
        stored: redacted[field] ?? null,
        found: object[field] ?? null,
      })
  }
  return { fields, drifted }
}

/**
 * Returns the provisioned objects that the engine still has exactly as last written. After an engine has lost its data, ids
 * may start again, so an equal id alone proves nothing.
 */
export const findSurviving = <Fields extends object>(
  provisioned: readonly Provisioned<Fields>[],
  actual: readonly ActualObject<Fields>[],
  redact: (fields: Fields) => Fields,
): Provisioned<Fields>[] =>
  provisioned.filter(({ sid, applied }) =>
    actual.some(object => object.id === sid && hasFields(object, redact(applied))),
  )

const hasFields = <Fields extends object>(object: ActualObject<Fields>, fields: Fields) =>
  (Object.keys(fields) as (keyof Fields)[]).every(field => isDeepStrictEqual(object[field], fields[field]))
