import { z } from 'zod'
import { route } from './management-route.ts'
import { jsonObject, pagination, recordId, text, timestamp } from './record-fields.ts'
import { timeExpression } from './time-expression.ts'

/**
 * An entry of the audit log, in which the management service logs every change of its data.
 * Each entry describes the change of one record, with the fields `before` and `after` it.
 * Secrets are replaced by `***`.
 */
export const auditEntry = z
  .object({
    audit_id: recordId,
    time: timestamp,
    user_id: recordId.nullable().meta({ description: 'Null if the appliance made the change' }),
    actor: z.string().meta({ description: 'E-mail address of the user at the time of the change' }),
    operation: z.string().meta({ description: 'Path of the operation' }),
    address: z
      .string()
      .meta({ description: 'IP address of the client; empty if the appliance made the change' }),
    record: z.string().meta({ description: 'Type of the record' }),
    record_id: z.string(),
    change: z.enum(['create', 'update', 'delete']),
    before: jsonObject.nullable(),
    after: jsonObject.nullable(),
  })
  .meta({ id: 'AuditEntry' })
export type AuditEntry = z.infer<typeof auditEntry>

export const auditRoutes = {
  list: route({
    method: 'get',
    path: '/audit/list',
    summary: 'List audit entries',
    description: 'Newest first.',
    access: 'administer',
    query: z.strictObject({
      ...pagination('audit'),
      record: text.optional(),
      record_id: text.optional(),
      // This is not a `reference`, so that the entries of a deleted user can still be listed.
      user_id: z.uuid({ error: 'must be the id of a user' }).optional(),
      start: timeExpression.optional(),
      end: timeExpression.optional(),
    }),
    status: 200,
    response: z.array(auditEntry),
  }),
}
