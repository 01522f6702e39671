import { sleep } from './abortable.ts'
import type { Egress } from './egress/egress.ts'
import type { ServerAddress } from './egress/server-address.ts'

/** Interval at which an unreachable server is probed. */
const PROBE_INTERVAL_MS = 1000
/** A server that does not accept a connection in this time is unreachable. */
const PROBE_TIMEOUT_MS = 3000

/** The pause before the next attempt to use a server. */
export interface RetryPause {
  /** Undefined if the address is unknown. The pause then lasts as long as the sleep. */
  address: ServerAddress | undefined
  /** Opens the connections that probe the server. */
  egress: Egress
  /** Whether the server is known to have been unreachable. By default, a first probe decides. */
  wasUnreachable?: boolean
  /** Sleeps until the next attempt is due. Ends, or rejects, when the signal is aborted. */
  sleep(signal: AbortSignal): Promise<unknown>
  /** Ends the pause. */
  signal: AbortSignal
}

/**
 * Waits until the next attempt is due or, if the server is unreachable, until it accepts
 * connections again. A host that was switched on, or a network that works again, is therefore used
 * within about a second, however long the back-off is. Resolves to whether the server has become
 * reachable again.
 */
export async function waitForServer(pause: RetryPause): Promise<boolean> {
  const finished = new AbortController()
  const signal = AbortSignal.any([pause.signal, finished.signal])
  const attemptDue = pause.sleep(signal).then(
    () => false,
    () => false,
  )
  try {
    if (!pause.address) return await attemptDue
    const serverReturned = watchReturn(pause.address, pause, signal)
    const hasReturned = await Promise.race([attemptDue, serverReturned])
    // A watch that ends without a return does not end the pause.
    return hasReturned || (await attemptDue)
  } finally {
    finished.abort()
  }
}

/**
 * Resolves to true when an unreachable server accepts a connection, a second from now at the
 * earliest. Resolves to false when the signal is aborted, and at once in two cases: the server was
 * reachable, so that the last attempt has failed for another reason, or its host name is unknown or
 * denied.
 */
async function watchReturn(
  { host, port }: ServerAddress,
  { egress, wasUnreachable = false }: RetryPause,
  signal: AbortSignal,
): Promise<boolean> {
  // A name is resolved once: without a network, each query would block one of the few threads
  // that also access files.
  const [ip] = await egress.resolve({ host, port }).catch(() => [])
  if (!ip) return false

  const address = { host: ip, port }
  if (!wasUnreachable && (await acceptsConnection(address, egress, signal))) return false
  while (!signal.aborted) {
    await sleep(PROBE_INTERVAL_MS, signal)
    if (await acceptsConnection(address, egress, signal)) return true
  }
  return false
}

async function acceptsConnection(
  address: ServerAddress,
  egress: Egress,
  signal: AbortSignal,
): Promise<boolean> {
  if (signal.aborted) return false
  const limited = AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)])
  const socket = await egress.connect(address, { signal: limited }).catch(() => undefined)
  socket?.destroy()
  return socket !== undefined
}
