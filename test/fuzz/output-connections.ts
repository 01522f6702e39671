import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { errorBody, hello, outputQuery } from '@eyrie/contract'
import { listen } from '@eyrie/kit'
import fc from 'fast-check'
import { WebSocket } from 'ws'
import { type ApiRevision, startEngine } from '../fixtures/engine/engine.ts'
import { createQueryArbitrary } from './arbitrary-request.ts'

/** A connection to the output, and the message that the client sends once it is open. */
const connection = fc.record({
  revision: fc.constantFrom<ApiRevision>('v1', 'v2', 'v3'),
  query: createQueryArbitrary({ query: outputQuery }),
  message: fc.option(
    fc.oneof(
      fc.nat(5).map(ack => JSON.stringify({ ack })),
      fc.json(),
      fc.string({ maxLength: 10 }),
      fc.uint8Array({ maxLength: 10 }),
    ),
  ),
})

/**
 * Connects to the output of each revision with mostly valid queries. A valid query must be
 * answered with `hello`, or with `capacity` while there are too many consumers, an invalid
 * one with an error body.
 */
export async function fuzzOutputConnections(
  data: string,
  { connections, seed }: { connections: number; seed?: number },
) {
  const { engine } = await startEngine(data)
  const server = await listen(engine, '127.0.0.1', 0)
  try {
    await fc.assert(
      fc.asyncProperty(connection, async ({ revision, query, message }) => {
        const socket = new WebSocket(`ws://127.0.0.1:${server.port}/api/${revision}/output${query}`)
        socket.on('error', () => {})
        const violation = await Promise.race([
          once(socket, 'message').then(([message]) => checkFirstMessage(query, String(message))),
          once(socket, 'unexpected-response').then(([, response]) =>
            checkRejection(query, response),
          ),
        ])
        if (violation) throw new Error(`/api/${revision}/output${query}: ${violation}`)
        if (socket.readyState === WebSocket.OPEN) {
          if (message !== null) socket.send(message)
          socket.close()
          await once(socket, 'close')
        }
      }),
      { numRuns: connections, seed },
    )
  } finally {
    await server.close()
    await engine.stop()
  }
}

function checkFirstMessage(query: string, message: string): string | undefined {
  if (!isValidQuery(query)) return 'invalid query was accepted'
  return hello.safeParse(JSON.parse(message)).success
    ? undefined
    : `first message is not hello: ${message}`
}

async function checkRejection(
  query: string,
  response: IncomingMessage,
): Promise<string | undefined> {
  const body = await text(response)
  const error = errorBody.safeParse(JSON.parse(body))
  const { statusCode: status } = response
  if (!error.success) return `${status} without an error body: ${body}`
  const expected = isValidQuery(query) ? '409 capacity' : '400 syntax'
  const actual = `${status} ${error.data.code}`
  return actual === expected ? undefined : `expected ${expected}, got ${actual}: ${body}`
}

/** Whether the contract allows a query. */
function isValidQuery(query: string): boolean {
  const parameters = new URLSearchParams(query)
  const values = [...new Set(parameters.keys())].map(name => {
    const all = parameters.getAll(name)
    return [name, all.length === 1 ? all[0] : all]
  })
  return outputQuery.safeParse(Object.fromEntries(values)).success
}
