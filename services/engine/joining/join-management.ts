import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { backoffDelayMs, fetchService, type Log, sleep } from '@eyrie/kit'
import { readOrCreateSecret } from '@eyrie/kit/secret-file'
import { z } from 'zod'

/** The engine that registers itself, and the management service that it joins. */
export interface JoinOptions {
  /** URL of the management service. */
  url: string
  joinToken: string
  /** Identifies this engine, even if its name or address changes. */
  identity: string
  name: string
  /** Port of this engine's API. */
  port: number
  /** Whether the API is served with TLS. */
  isSecure: boolean
  /** Token with which the management service calls this engine. */
  token: string
  log: Log
}

const RETRY_BACKOFF = { initialMs: 1000, maxMs: 30_000 }
const REQUEST_TIMEOUT_MS = 10_000
const SECRET_BYTES = 32

/**
 * Registers the engine with the management service, which takes the address of the engine from the
 * connection. Tries again until it succeeds, because the management service may start later.
 * Returns a function that ends the attempts.
 */
export function joinManagement(options: JoinOptions): () => Promise<void> {
  const stopping = new AbortController()
  const joining = joinWithRetries(options, stopping.signal)
  return async () => {
    stopping.abort()
    await joining
  }
}

async function joinWithRetries(options: JoinOptions, signal: AbortSignal): Promise<void> {
  const { url, log } = options
  let lastReason: string | undefined
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      const engineId = await requestJoin(options, signal)
      log.info({ management: url, engine_id: engineId }, 'joined management service')
      return
    } catch (error) {
      if (signal.aborted) return
      const reason = describeError(error)
      // The same reason is logged only once.
      if (reason !== lastReason) {
        log.warn({ management: url, reason }, 'failed to join management service')
      }
      lastReason = reason
      await sleep(backoffDelayMs(failures, RETRY_BACKOFF), signal)
    }
  }
}

/** The response of the management service. */
const envelope = z.object({ message: z.string(), response: z.unknown() })
const joinedEngine = z.object({ engine_id: z.string() })

/**
 * Returns the id of the engine in the management service. Throws an `Error` with the reason
 * if it is not accepted.
 */
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
  const body = envelope.parse(await response.json())
  if (!response.ok) throw new Error(body.message)
  return joinedEngine.parse(body.response).engine_id
}

/** The reason why a request could not be sent is in the cause of its error. */
function describeError(error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error ? `${message}: ${cause.message}` : message
}

/**
 * Returns the identity of the engine whose configuration is in `folder`. The first call
 * creates it. The identity is a secret: the management service sends passwords of cameras to
 * the engine that knows it.
 */
export const readOrCreateIdentity = (folder: string): string =>
  readOrCreateSecret(join(folder, 'identity'), generateSecret)

/**
 * Returns the API token that the engine uses if its settings contain none. The first call creates
 * it.
 */
export const readOrCreateToken = (dataFolder: string): string =>
  readOrCreateSecret(join(dataFolder, 'secrets', 'engine-token'), generateSecret).trim()

const generateSecret = () => randomBytes(SECRET_BYTES).toString('base64url')
