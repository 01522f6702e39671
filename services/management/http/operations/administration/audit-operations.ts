import { managementRoutes } from '@eyrie/contract/management/index'
import { parseTime } from '@eyrie/contract/management/time-expression'
import { and, desc, eq, gte, lte } from 'drizzle-orm'
import { audit } from '../../../db/schema/index.ts'
import { defineOperation, type Operation } from '../../api/operation.ts'

/**
 * The API operation that reads the audit log: who has changed which record, newest change first.
 */
export const auditOperations = (now: () => Date): Operation[] => [
  defineOperation(managementRoutes.audit.list, async ({ input }, tx) => {
    const {
      record,
      record_id: recordId,
      user_id: userId,
      start,
      end,
      audit_offset: auditOffset,
      audit_limit: auditLimit,
    } = input
    // The contract admits only valid times. Relative times refer to now.
    const toDate = (text: string) => new Date(parseTime(text, now().getTime())!)

    const condition = and(
      record === undefined ? undefined : eq(audit.record, record),
      recordId === undefined ? undefined : eq(audit.record_id, recordId),
      userId === undefined ? undefined : eq(audit.user_id, userId),
      start === undefined ? undefined : gte(audit.time, toDate(start)),
      end === undefined ? undefined : lte(audit.time, toDate(end)),
    )
    const entries = await tx
      .select()
      .from(audit)
      .where(condition)
      .orderBy(desc(audit.time), desc(audit.audit_id))
      .offset(auditOffset)
      .limit(auditLimit)
    return { value: entries }
  }),
]
