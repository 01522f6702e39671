import type { Context } from 'hono'
import type { Origin } from '../../users/sessions.ts'
import { TooManyAttempts } from '../../users/sign-in-limits.ts'
import { peerAddress } from './peer-address.ts'

/** The client of a sign-in request, as its session records it. */
export const readOrigin = (context: Context): Origin => ({
  address: peerAddress(context),
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
