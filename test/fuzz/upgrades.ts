import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { errorBody, hello, outputQuery } from '@eyrie/contract'
import { listen } from '@eyrie/kit'
import fc from 'fast-check'
import { WebSocket } from 'ws'
import { type RevisionPath, startEngine } from '../fixtures/engine.ts'
import { queryOf } from './request.ts'

/** A connection to the output: how it is asked for, and what is sent once it is there. */
const connection = fc.record({
  revision: fc.constantFrom<RevisionPath>('v1', 'v2', 'v3'),
  query: queryOf({ query: outputQuery }),
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
 * Connects to the output of each revision with queries of which most fit the contract. What fits must be answered by
 * `hello`, or by `capacity` where there are too many consumers; what does not, by an error body.
 */
export async function fuzzUpgrades(
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
        const fault = await Promise.race([
          once(socket, 'message').then(([first]) => welcomeFault(query, String(first))),
          once(socket, 'unexpected-response').then(([, response]) => refusalFault(query, response)),
        ])
        if (fault) throw new Error(`/api/${revision}/output${query}: ${fault}`)
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

function welcomeFault(query: string, first: string): string | undefined {
  if (!fits(query)) return 'accepted, though the contract does not know such a query'
  return hello.safeParse(JSON.parse(first)).success ? undefined : `begins with ${first}`
}

async function refusalFault(query: string, response: IncomingMessage): Promise<string | undefined> {
  const body = await text(response)
  const refusal = errorBody.safeParse(JSON.parse(body))
  const { statusCode: status } = response
  if (!refusal.success) return `${status} without an error body: ${body}`
  const expected = fits(query) ? [409, 'capacity'] : [400, 'syntax']
  const answered = [status, refusal.data.code]
  return answered.join() === expected.join() ? undefined : `answered ${answered.join(' ')}: ${body}`
}

/** Whether a query is one of those that the contract describes. */
function fits(query: string): boolean {
  const asked = new URLSearchParams(query)
  const values = [...new Set(asked.keys())].map(name => {
    const all = asked.getAll(name)
    return [name, all.length === 1 ? all[0] : all]
  })
  return outputQuery.safeParse(Object.fromEntries(values)).success
}
