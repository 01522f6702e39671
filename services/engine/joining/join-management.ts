import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { backoffDelayMs, fetchService, type Log } from '@eyrie/kit'
import { readOrCreateSecret } from '@eyrie/kit/secret-file'
import { z } from 'zod'

/** How an engine registers itself with a management service. */
export interface JoinOptions {
  /** URL of the management service. */
  url: string
  joinToken: string
  /** Identifies this engine for ever, wherever it is. */
  identity: string
  name: string
  port: number
  isSecure: boolean
  /** Token with which the management service calls this engine. */
  token: string
  log: Log
}

const RETRY_BACKOFF = { initialMs: 1000, maxMs: 30_000 }
const REQUEST_TIMEOUT_MS = 10_000

const envelope = z.object({ message: z.string(), response: z.unknown() })
const joined = z.object({ engine_id: z.string() })

/**
 * Returns the identity of the engine with this data folder. The first call creates it. It is a secret: management sends passwords of
 * cameras to the engine that has it.
 */
export const readIdentity = (folder: string): string => readOrCreateSecret(join(folder, 'identity'), generate)

/** Returns the token for the API of an engine that was given none. The first call creates it. */
export const readOwnToken = (data: string): string =>
  readOrCreateSecret(join(data, 'secrets', 'engine-token'), generate).trim()

const generate = () => randomBytes(32).toString('base64url')

/**
 * Registers the engine, and repeats it until the management service accepts: it may start later. The management service learns the
 * address from the connection. Returns a function that ends the attempts.
 */
export function joinManagement(options: JoinOptions): () => Promise<void> {
  const { url, log } = options
  const stopping = new AbortController()
  const { signal } = stopping

  async function run(): Promise<void> {
    let lastReason = ''
    for (let failures = 0; !signal.aborted; failures += 1)
      try {
        const engine_id = await requestJoin(options, signal)
        log.info({ management: url, engine_id }, 'joined management service')
        return
      } catch (error) {
        if (signal.aborted) return
        const reason = describe(error)
        if (reason !== lastReason) log.warn({ management: url, reason }, 'failed to join management service')
        lastReason = reason
        await wait(backoffDelayMs(failures, RETRY_BACKOFF), undefined, { signal }).catch(() => {})
      }
  }

  const running = run()
  return async () => {
    stopping.abort()
    await running
  }
}

async function requestJoin(options: JoinOptions, signal: AbortSignal): Promise<string> {
  const { url, joinToken, identity, name, port, isSecure, token } = options
  const response = await fetchService(url, '/api/v1/engine/join', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      join_token: joinToken,
      engine_identity: identity,
      engine_name: name,
      engine_port: port,
      engine_is_secure: isSecure,
      engine_key: token,
    }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
  })
  const answer = envelope.parse(await response.json())
  if (!response.ok) throw new Error(answer.message)
  return joined.parse(answer.response).engine_id
}

/** The reason of a failed request is in the cause of the error. */
function describe(error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error ? `${message}: ${cause.message}` : message
}
