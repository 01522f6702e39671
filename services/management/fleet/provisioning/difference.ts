import { isDeepStrictEqual } from 'node:util'
import type { Wanted } from './desired-state.ts'

/** What management has made on the engine for a record, as it wrote it last. */
export interface Made<Fields> {
  record_id: string
  /** Null: whether it has been made is not known. */
  sid: number | null
  made_after: number
  applied: Fields
}

/** Something that is on the engine. */
export type Found<Fields> = { id: number } & Partial<Fields>

export type Step<Fields> =
  | { step: 'create'; record: Wanted<Fields> }
  /** The making of it had come to pass, and nobody has heard of it. */
  | { step: 'adopt'; record: Made<Fields>; found: Found<Fields> }
  | { step: 'change'; record: Wanted<Fields>; found: Found<Fields>; fields: Partial<Fields> }
  | { step: 'remove'; record: Made<Fields>; found: Found<Fields> }
  | { step: 'forget'; record: Made<Fields> }

/** A field that somebody has changed on the engine. */
export interface Drifted {
  record_id: string
  name: string
  sid: number
  field: string
  /** Null where it is not set, and likewise what was found. */
  stored: unknown
  found: unknown
}

export interface Difference<Fields> {
  steps: Step<Fields>[]
  drift: Drifted[]
}

export interface DifferenceInput<Fields> {
  wanted: readonly Wanted<Fields>[]
  made: readonly Made<Fields>[]
  found: readonly Found<Fields>[]
  /** Fields as the engine shows them. */
  shown(fields: Fields): Fields
  /** Undoes what somebody has changed on the engine. */
  repair: boolean
}

/**
 * What it takes to make an engine what is stored. A field that is stored otherwise than it was written last is written; one
 * that is otherwise on the engine alone was changed there, and stays so unless it is to be repaired. What is missing
 * is made again. What management has never made is in none of it.
 */
export function differenceOf<Fields extends object>(input: DifferenceInput<Fields>): Difference<Fields> {
  const { wanted, made, found, shown, repair } = input
  const steps: Step<Fields>[] = []
  const drift: Drifted[] = []
  const bySid = new Map(found.map(each => [each.id, each]))
  const byRecord = new Map(made.map(each => [each.record_id, each]))
  const claimed = new Set(made.flatMap(({ sid }) => sid ?? []))

  const present = (record: Made<Fields>): Found<Fields> | undefined => {
    if (record.sid !== null) return bySid.get(record.sid)
    const born = found.find(
      each => each.id > record.made_after && !claimed.has(each.id) && isSame(each, shown(record.applied)),
    )
    if (born) {
      claimed.add(born.id)
      steps.push({ step: 'adopt', record, found: born })
    }
    return born
  }

  for (const record of wanted) {
    const known = byRecord.get(record.record_id)
    const there = known && present(known)
    if (!known || !there) {
      steps.push({ step: 'create', record })
      continue
    }
    const visible = shown(record.fields)
    const fields: Partial<Fields> = {}
    for (const field of Object.keys(record.fields) as (keyof Fields & string)[]) {
      const isNew = !isDeepStrictEqual(record.fields[field], known.applied[field])
      const differs = !isDeepStrictEqual(there[field], visible[field])
      // What is hidden cannot be compared: a repair writes it anew.
      const isSecret = !isDeepStrictEqual(record.fields[field], visible[field])
      if (isNew || (repair && (differs || isSecret))) fields[field] = record.fields[field]
      else if (differs)
        drift.push({
          record_id: record.record_id,
          name: record.name,
          sid: there.id,
          field,
          stored: visible[field] ?? null,
          found: there[field] ?? null,
        })
    }
    if (Object.keys(fields).length > 0) steps.push({ step: 'change', record, found: there, fields })
  }

  const kept = new Set(wanted.map(({ record_id }) => record_id))
  for (const record of made.filter(({ record_id }) => !kept.has(record_id))) {
    const there = present(record)
    steps.push(there ? { step: 'remove', record, found: there } : { step: 'forget', record })
  }
  return { steps, drift }
}

/** What has been made that is on the engine as it was written last: all that can be believed when ids may begin anew. */
export const surviving = <Fields extends object>(
  made: readonly Made<Fields>[],
  found: readonly Found<Fields>[],
  shown: (fields: Fields) => Fields,
): Made<Fields>[] =>
  made.filter(({ sid, applied }) => found.some(each => each.id === sid && isSame(each, shown(applied))))

const isSame = <Fields extends object>(found: Found<Fields>, fields: Fields) =>
  (Object.keys(fields) as (keyof Fields)[]).every(field => isDeepStrictEqual(found[field], fields[field]))
