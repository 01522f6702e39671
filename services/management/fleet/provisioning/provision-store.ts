import { and, eq, inArray } from 'drizzle-orm'
import type { Database, Transaction } from '../../db/database.ts'
import { engineState, pipeline, provision, source } from '../../db/schema/index.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import type { ProvisionedObject } from './reconcile-plan.ts'

/** The kinds of objects that the management service creates on engines. */
export type ResourceKind = 'source' | 'pipeline'

/**
 * Persists the provisions of one engine. A provision says that the management service has created an object on the
 * engine for a stored record. It contains the id that the engine has assigned (`sid`) and the fields as last
 * written.
 */
export interface ProvisionStore<Fields> {
  list(): ProvisionedObject<Fields>[]
  get(record_id: string): ProvisionedObject<Fields> | undefined
  /** Called before an object is created. After a crash, an object with an id above `made_after` may be the result. */
  recordIntent(record_id: string, made_after: number, fields: Fields): Promise<void>
  /** Called when the object exists on the engine with these fields. */
  recordApplied(record_id: string, sid: number, fields: Fields): Promise<void>
  /** Called when the object does not exist on the engine. */
  delete(record_id: string): Promise<void>
}

export interface ProvisionStoreOptions<Fields> {
  kind: ResourceKind
  engine_id: string
  database: Database
  secrets: Secrets
  /** The provisions as stored when the reconciliation starts. */
  initial: readonly ProvisionedObject<Fields>[]
}

/** The name of these transactions in the audit log. */
const OPERATION = 'provision an engine'

export function createProvisionStore<Fields>({
  kind,
  engine_id,
  database,
  secrets,
  initial,
}: ProvisionStoreOptions<Fields>): ProvisionStore<Fields> {
  const provisions = new Map(initial.map(object => [object.record_id, object]))
  const matchesRecord = (record_id: string) =>
    and(eq(provision.engine_id, engine_id), eq(provision.record_id, record_id))
  const seal = (fields: Fields) => secrets.encrypt(JSON.stringify(fields))

  return {
    list: () => [...provisions.values()],
    get: record_id => provisions.get(record_id),

    async recordIntent(record_id, made_after, fields) {
      await database.system(OPERATION, async tx => {
        const values = { sid: null, made_after, applied: seal(fields) }
        await tx
          .insert(provision)
          .values({ engine_id, record_id, kind, ...values })
          .onConflictDoUpdate({ target: [provision.engine_id, provision.record_id], set: values })
      })
      provisions.set(record_id, { record_id, sid: null, made_after, applied: fields })
    },

    async recordApplied(record_id, sid, fields) {
      await database.system(OPERATION, async tx => {
        await tx
          .update(provision)
          .set({ sid, applied: seal(fields) })
          .where(matchesRecord(record_id))
        await writeSid(tx, kind, engine_id, record_id, sid)
      })
      provisions.set(record_id, { ...provisions.get(record_id)!, sid, applied: fields })
    },

    async delete(record_id) {
      await database.system(OPERATION, async tx => {
        await tx.delete(provision).where(matchesRecord(record_id))
        await writeSid(tx, kind, engine_id, record_id, null)
      })
      provisions.delete(record_id)
    },
  }
}

/** Stores the id of a record on the engine, unless the record has been moved to another engine in the meantime. */
async function writeSid(
  tx: Transaction,
  kind: ResourceKind,
  engine_id: string,
  record_id: string,
  sid: number | null,
): Promise<void> {
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

/** Deletes the provisions of objects that the engine has lost, and stores the id of the engine's new output log. */
export async function deleteLostProvisions(
  database: Database,
  engine_id: string,
  lostIds: readonly string[],
  log_id: string,
): Promise<void> {
  const ids = [...lostIds]

  await database.system(OPERATION, async tx => {
    await tx
      .delete(provision)
      .where(and(eq(provision.engine_id, engine_id), inArray(provision.record_id, ids)))
    await tx
      .update(source)
      .set({ source_sid: null })
      .where(and(eq(source.engine_id, engine_id), inArray(source.source_id, ids)))
    await tx
      .update(pipeline)
      .set({ pipeline_sid: null })
      .where(and(eq(pipeline.engine_id, engine_id), inArray(pipeline.pipeline_id, ids)))
    await tx
      .update(engineState)
      .set({ provisioned_log_id: log_id })
      .where(eq(engineState.engine_id, engine_id))
  })
}
