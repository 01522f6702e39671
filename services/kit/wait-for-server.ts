import { sleep } from './abortable.ts'
import type { Egress } from './egress/egress.ts'
import type { ServerAddress } from './egress/server-address.ts'

/** Interval at which an unreachable server is probed. */
const PROBE_INTERVAL_MS = 1000
/** A server that does not accept a connection in this time is unreachable. */
const PROBE_TIMEOUT_MS = 3000

/** The pause between two attempts to use a server. */
export interface RetryPause {
  /** The server. Undefined if its address is unknown, so that only the time decides. */
  address: ServerAddress | undefined
  /** Opens the connections that probe the server. */
  egress: Egress
  /**
   * Sleeps until the next attempt is due. Ends early, resolved or rejected, when the signal is
   * aborted.
   */
  sleep(signal: AbortSignal): Promise<unknown>
  signal: AbortSignal
}

/**
 * Waits until the next attempt to use a server: until `sleep` has ended or, if the server is
 * unreachable, until it accepts connections again. A host that was switched on, or a network that
 * works again, is therefore used within about a second, however long the back-off is. Resolves to
 * whether the server has become reachable again.
 */
export async function waitForServer({
  address,
  egress,
  sleep: sleepUntilDue,
  signal,
}: RetryPause): Promise<boolean> {
  const pause = new AbortController()
  const ended = AbortSignal.any([signal, pause.signal])
  const asleep = sleepUntilDue(ended).then(
    () => false,
    () => false,
  )
  try {
    if (!address) return await asleep
    // If the watch ends without a return, the pause still lasts until the end of the sleep.
    const watch = watchReturn(address, egress, ended).then(hasReturned => hasReturned || asleep)
    return await Promise.race([asleep, watch])
  } finally {
    pause.abort()
  }
}

/**
 * Resolves to true when a server that was unreachable accepts a connection. Resolves to false when
 * the signal is aborted, and at once if the server is reachable (the last attempt has failed for
 * another reason) or its host name is unknown or denied.
 */
async function watchReturn(
  { host, port }: ServerAddress,
  egress: Egress,
  signal: AbortSignal,
): Promise<boolean> {
  // A name is resolved once: without a network, each query would block one of the few threads
  // that also access files.
  const [resolved] = await egress.resolve({ host, port }).catch(() => [])
  if (!resolved) return false
  const acceptsConnection = async () => {
    if (signal.aborted) return false
    const limited = AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)])
    const socket = await egress
      .connect({ host: resolved, port }, { signal: limited })
      .catch(() => undefined)
    socket?.destroy()
    return socket !== undefined
  }

  if (await acceptsConnection()) return false
  while (!signal.aborted) {
    await sleep(PROBE_INTERVAL_MS, signal)
    if (await acceptsConnection()) return true
  }
  return false
}
