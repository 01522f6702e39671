import { managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { session } from '../../../db/schema/index.ts'
import { listSessions } from '../../../users/sessions.ts'
import { defineOperation, type Operation } from '../../api/operation.ts'

const { sessions, revokeSession } = managementRoutes.user

export const sessionOperations = (now: () => Date): Operation[] => [
  defineOperation(sessions, async ({ input: { user_id }, caller }, tx) => {
    const found = await listSessions(tx, user_id ?? caller.user_id, now())
    return { value: found.map(it => ({ ...it, is_current: it.session_id === caller.session_id })) }
  }),

  defineOperation(revokeSession, async ({ input: { session_id } }, tx) => {
    await tx.update(session).set({ revoked_at: now() }).where(eq(session.session_id, session_id))
    return undefined
  }),
]
