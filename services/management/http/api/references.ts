import type { ManagementRoute, RecordName } from '@eyrie/contract/management/index'
import { sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { z } from 'zod'
import type { Transaction } from '../../db/database.ts'
import { definePreparedQuery } from '../../db/prepared-query.ts'
import * as tables from '../../db/schema/index.ts'
import { formatTextArray, isInArray } from '../../db/text-array.ts'
import { missingRecords } from '../../errors/field-errors.ts'

/** The column that contains the ids of each kind of record. */
const ID_COLUMNS: Record<RecordName, PgColumn> = {
  alert: tables.alert.alert_id,
  api_token: tables.apiToken.token_id,
  calendar: tables.calendar.calendar_id,
  channel: tables.channel.channel_id,
  customer: tables.customer.customer_id,
  delivery: tables.delivery.delivery_id,
  device: tables.device.device_id,
  engine: tables.engine.engine_id,
  image: tables.image.image_id,
  incident: tables.incident.incident_id,
  join_token: tables.joinToken.join_token_id,
  notification: tables.notification.notification_uuid,
  organization: tables.organization.organization_id,
  pipeline: tables.pipeline.pipeline_id,
  push_subscription: tables.pushSubscription.push_subscription_id,
  report_schedule: tables.reportSchedule.report_schedule_id,
  role: tables.role.role_id,
  schedule: tables.schedule.schedule_id,
  schedule_exception: tables.scheduleException.exception_id,
  session: tables.session.session_id,
  site: tables.site.site_id,
  snooze: tables.snooze.snooze_id,
  source: tables.source.source_id,
  static_content: tables.staticContent.static_content_id,
  system_alert: tables.systemAlert.system_alert_id,
  usecase: tables.usecase.usecase_id,
  user: tables.user.user_id,
}

/** A field of the input that contains the id of a record. */
interface Reference {
  record: RecordName
  /** Path of the field, such as `sites.0.site_id`. */
  field: string
  id: string
}

/**
 * Throws `EyrieError` (`id`) with every field that refers to a missing record. Records that the
 * caller may not see count as missing, because the transaction sees only the records that are
 * visible to the caller.
 */
export async function assertReferencesExist(
  tx: Transaction,
  route: ManagementRoute,
  input: unknown,
): Promise<void> {
  const referencesByRecord = Map.groupBy(listReferences(route, input), ({ record }) => record)
  const missing: Reference[] = []
  for (const [record, references] of referencesByRecord) {
    const ids = [...new Set(references.map(({ id }) => id))]
    const visibleIds = await findVisibleIds(tx, record, ids)
    missing.push(...references.filter(({ id }) => !visibleIds.has(id.toLowerCase())))
  }

  if (missing.length > 0) {
    throw missingRecords(missing.map(({ field, record }) => ({ field, record })))
  }
}

/**
 * Prepared queries that return which of the given ids belong to records that the caller may see.
 */
const visibilityQueries = new Map(
  Object.entries(ID_COLUMNS).map(([record, column]) => [
    record,
    definePreparedQuery(tx =>
      tx
        .select({ id: column })
        .from(column.table)
        .where(isInArray(column, sql.placeholder('ids'))),
    ),
  ]),
)

/** Returns which of these ids belong to records that the caller may see. */
async function findVisibleIds(
  tx: Transaction,
  record: RecordName,
  ids: string[],
): Promise<Set<string>> {
  // There is a query for every `RecordName`.
  const findRows = visibilityQueries.get(record)!
  const rows = await findRows(tx, { ids: formatTextArray(ids) })
  return new Set(rows.map(({ id }) => id as string))
}

/**
 * Returns all references to records in the input of a route. The schema marks the fields that
 * contain ids of records.
 */
export function listReferences({ body, query }: ManagementRoute, input: unknown): Reference[] {
  const schema = body ?? query
  return schema ? collectReferences(schema, input, '') : []
}

/** The members of Zod's schema definitions that are used here. */
interface SchemaDefinition {
  type: string
  /** The schema that an optional, nullable or default schema wraps. */
  innerType?: z.ZodType
  /** The schema of an array's elements. */
  element?: z.ZodType
  /** The schema of a pipe's result. */
  out?: z.ZodType
}

/** Walks through a schema and a value together. `field` is the path of `value` within the input. */
function collectReferences(schema: z.ZodType, value: unknown, field: string): Reference[] {
  if (value === undefined || value === null) return []
  const def = schema.def as SchemaDefinition

  if (def.innerType) return collectReferences(def.innerType, value, field)
  if (def.out) return collectReferences(def.out, value, field)

  if (def.type === 'array') {
    const elements = value as unknown[]
    // The schema of an array always has an element schema.
    return elements.flatMap((element, index) =>
      collectReferences(def.element!, element, `${field}.${index}`),
    )
  }

  if (def.type === 'object') {
    const object = value as Record<string, unknown>
    return Object.entries((schema as z.ZodObject).shape).flatMap(([key, memberSchema]) => {
      const path = field ? `${field}.${key}` : key
      return collectReferences(memberSchema as z.ZodType, object[key], path)
    })
  }

  const record = schema.meta()?.record as RecordName | undefined
  return record ? [{ record, field, id: value as string }] : []
}
