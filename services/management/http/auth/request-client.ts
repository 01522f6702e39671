import { getRequestClient } from '@eyrie/kit/client/request-client'
import type { Context } from 'hono'
import type { SessionClient } from '../../users/sessions.ts'
import { TooManyAttempts } from '../../users/sign-in-limits.ts'

/** Returns the address and user agent of a sign-in request, which are stored with the session. */
export const readSessionClient = (context: Context): SessionClient => ({
  address: getRequestClient(context).address,
  user_agent: context.req.header('User-Agent') ?? '',
})

/** Sets the header `Retry-After` when `work` rejects with `TooManyAttempts`. */
export async function addRetryAfter<T>(context: Context, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof TooManyAttempts) context.header('Retry-After', String(error.retryAfter))
    throw error
  }
}
