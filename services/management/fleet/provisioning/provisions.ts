import { and, eq, inArray } from 'drizzle-orm'
import type { Database, Transaction } from '../../db/database.ts'
import { engineState, pipeline, provision, source } from '../../db/schema/index.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import type { Made } from './difference.ts'

export type Kind = 'source' | 'pipeline'

/** Remembers what has been made of one kind on an engine, and under which ids. */
export interface Provisions<Fields> {
  all(): Made<Fields>[]
  get(record_id: string): Made<Fields> | undefined
  /** Before something is made: what gets a greater id than `made_after` may be it. */
  intend(record_id: string, made_after: number, fields: Fields): Promise<void>
  /** It is there, with these fields. */
  made(record_id: string, sid: number, fields: Fields): Promise<void>
  /** It is not there any more, or has never been. */
  forget(record_id: string): Promise<void>
}

export interface ProvisionsOptions<Fields> {
  kind: Kind
  engine_id: string
  database: Database
  secrets: Secrets
  known: readonly Made<Fields>[]
}

const operation = 'provision an engine'

export function createProvisions<Fields>(options: ProvisionsOptions<Fields>): Provisions<Fields> {
  const { kind, engine_id, database, secrets, known } = options
  const made = new Map(known.map(each => [each.record_id, each]))
  const rowOf = (record_id: string) =>
    and(eq(provision.engine_id, engine_id), eq(provision.record_id, record_id))
  const sealed = (fields: Fields) => secrets.seal(JSON.stringify(fields))

  return {
    all: () => [...made.values()],
    get: record_id => made.get(record_id),

    async intend(record_id, made_after, fields) {
      await database.system(operation, async tx => {
        const values = { sid: null, made_after, applied: sealed(fields) }
        await tx
          .insert(provision)
          .values({ engine_id, record_id, kind, ...values })
          .onConflictDoUpdate({ target: [provision.engine_id, provision.record_id], set: values })
      })
      made.set(record_id, { record_id, sid: null, made_after, applied: fields })
    },

    async made(record_id, sid, fields) {
      await database.system(operation, async tx => {
        await tx
          .update(provision)
          .set({ sid, applied: sealed(fields) })
          .where(rowOf(record_id))
        await writeSid(tx, kind, engine_id, record_id, sid)
      })
      made.set(record_id, { ...made.get(record_id)!, sid, applied: fields })
    },

    async forget(record_id) {
      await database.system(operation, async tx => {
        await tx.delete(provision).where(rowOf(record_id))
        await writeSid(tx, kind, engine_id, record_id, null)
      })
      made.delete(record_id)
    },
  }
}

/** The record may have gone to another engine meanwhile. */
async function writeSid(
  tx: Transaction,
  kind: Kind,
  engine_id: string,
  record_id: string,
  sid: number | null,
) {
  if (kind === 'source')
    await tx
      .update(source)
      .set({ source_sid: sid })
      .where(and(eq(source.source_id, record_id), eq(source.engine_id, engine_id)))
  else
    await tx
      .update(pipeline)
      .set({ pipeline_sid: sid })
      .where(and(eq(pipeline.pipeline_id, record_id), eq(pipeline.engine_id, engine_id)))
}

/** The engine has begun another output log: of what had been made on it, these are gone, and ids may begin anew. */
export const forgetLost = (database: Database, engine_id: string, lost: readonly string[], log_id: string) =>
  database.system(operation, async tx => {
    const rows = and(eq(provision.engine_id, engine_id), inArray(provision.record_id, [...lost]))
    await tx.delete(provision).where(rows)
    await tx
      .update(source)
      .set({ source_sid: null })
      .where(inArray(source.source_id, [...lost]))
    await tx
      .update(pipeline)
      .set({ pipeline_sid: null })
      .where(inArray(pipeline.pipeline_id, [...lost]))
    await tx
      .update(engineState)
      .set({ provisioned_log_id: log_id })
      .where(eq(engineState.engine_id, engine_id))
  })
