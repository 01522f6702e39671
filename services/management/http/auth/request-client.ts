import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type { SessionClient } from '../../users/sessions.ts'
import { TooManyAttempts } from '../../users/sign-in-limits.ts'

/** Returns the remote address of the connection, or an empty string without one. Ignores headers of proxies. */
export function getPeerAddress(context: Context): string {
  const { incoming } = (context.env ?? {}) as Partial<HttpBindings>
  return incoming?.socket.remoteAddress?.replace(/^::ffff:/, '') ?? ''
}

/** Returns the address and user agent of a sign-in request, which are stored with the session. */
export const readSessionClient = (context: Context): SessionClient => ({
  address: getPeerAddress(context),
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
