import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { Http2Bindings, HttpBindings } from '@hono/node-server'
import type { Hono } from 'hono'
import { lastAnswer } from './last-answer.ts'

/**
 * Answers an upgrade that is refused as the app says, body included: the server itself would send the status alone. An
 * answer with a body or an error's status is a refusal; that of an accepted WebSocket is empty.
 */
export function withRefusals({ fetch }: Pick<Hono, 'fetch'>) {
  return async (request: Request, bindings: HttpBindings | Http2Bindings): Promise<Response> => {
    const response = await fetch(request, bindings)
    const isUpgrade = !bindings.outgoing
    if (isUpgrade && (response.status >= 400 || response.body))
      await refuse(bindings.incoming.socket, response)
    return response
  }
}

/** Resolves when the connection is closed, so that nobody answers once more. */
async function refuse(socket: Socket, response: Response): Promise<void> {
  const body = Buffer.from(await response.clone().arrayBuffer())
  if (socket.destroyed) return
  const closed = once(socket, 'close')
  lastAnswer(socket, response.status, new Headers(response.headers), body)
  await closed
}
