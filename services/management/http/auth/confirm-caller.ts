import { getRequestClient } from '@eyrie/kit/client/request-client'
import type { Context } from 'hono'
import type { Database } from '../../db/database.ts'
import type { Principal } from '../../rights/principal.ts'
import { confirmPassword } from '../../users/confirm-password.ts'
import type { Users } from '../../users/users.ts'
import { addRetryAfter } from './request-client.ts'

/** Who makes a call, and from where. */
export interface Caller {
  caller: Principal
  context: Context
}

/**
 * Throws `EyrieError` (`rights`) unless the caller has confirmed their own password. Must not be
 * used in routes that are open to API tokens, which have no session.
 */
export function assertPasswordConfirmed(
  database: Database,
  { caller, context }: Caller,
  currentPassword: string | undefined,
  users: Pick<Users, 'passwords' | 'now'>,
): Promise<void> {
  const { address } = getRequestClient(context)
  const confirmation = {
    caller,
    session_id: caller.session_id!,
    current_password: currentPassword,
    address,
  }
  return addRetryAfter(context, confirmPassword(database, confirmation, users))
}
