import { managementRoutes } from '@eyrie/contract/management/index'
import { parseTime } from '@eyrie/contract/management/time-expression'
import { and, desc, eq, gte, lte } from 'drizzle-orm'
import { audit } from '../../../db/schema/index.ts'
import { type Operation, operation } from '../../api/operation.ts'

export const auditOperations = (now: () => Date): Operation[] => [
  operation(managementRoutes.audit.list, async ({ input }, tx) => {
    const { record, record_id, user_id, start, end, audit_offset, audit_limit } = input
    const at = (text: string) => new Date(parseTime(text, now().getTime())!)
    const wanted = and(
      record === undefined ? undefined : eq(audit.record, record),
      record_id === undefined ? undefined : eq(audit.record_id, record_id),
      user_id === undefined ? undefined : eq(audit.user_id, user_id),
      start === undefined ? undefined : gte(audit.time, at(start)),
      end === undefined ? undefined : lte(audit.time, at(end)),
    )
    const value = await tx
      .select()
      .from(audit)
      .where(wanted)
      .orderBy(desc(audit.time), desc(audit.audit_id))
      .offset(audit_offset)
      .limit(audit_limit)
    return { value }
  }),
]
