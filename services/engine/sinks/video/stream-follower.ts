import { backoffDelayMs, fetchService, sleep } from '@eyrie/kit'
import type { MediaAccess } from '../../media/frame-picture.ts'
import { splitSegments } from './mp4-segments.ts'

/**
 * Receives a live stream of fragmented MP4: an init segment with the codec parameters, then
 * fragments with pictures.
 */
export interface StreamFollowerListener {
  /**
   * The following fragments belong to this init segment. `epoch` identifies the time base of their
   * stream times, which changes when the media service restarts.
   */
  onInit(init: Buffer, epoch: number): void
  onFragment(fragment: Buffer): void
  /** The stream is currently unavailable. */
  onFailure(reason: string): void
}

const RECONNECT_BACKOFF = { initialMs: 200, maxMs: 1000 }

/**
 * Reads the live stream of a source from the media service. Reconnects with back-off
 * until it is stopped.
 */
export class StreamFollower {
  readonly #url: string
  readonly #path: string
  readonly #headers: Record<string, string>
  readonly #listener: StreamFollowerListener
  readonly #stopping = new AbortController()
  /** Ends the current delay before the next connection early. */
  #delaySkip = new AbortController()
  readonly #ended: Promise<void>

  constructor({ url, token }: MediaAccess, source: number, listener: StreamFollowerListener) {
    this.#url = url
    this.#path = `/streams/${source}`
    this.#headers = token ? { Authorization: `Bearer ${token}` } : {}
    this.#listener = listener
    this.#ended = this.#follow()
  }

  /** Reconnects without further delay, because the stream is known to be available. */
  retryNow(): void {
    this.#delaySkip.abort()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#ended
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopping
    /** Attempts since the last one that received anything. */
    let failedAttempts = 0
    while (!signal.aborted) {
      try {
        const hasReceived = await this.#receive(signal)
        if (hasReceived) failedAttempts = 0
      } catch (error) {
        if (!signal.aborted) this.#listener.onFailure((error as Error).message)
      }

      this.#delaySkip = new AbortController()
      const interruption = AbortSignal.any([signal, this.#delaySkip.signal])
      const delayMs = backoffDelayMs(failedAttempts, RECONNECT_BACKOFF, Math.random)
      await sleep(delayMs, interruption)
      failedAttempts += 1
    }
  }

  /** Reads the stream until it ends. Returns whether it contained any segment. */
  async #receive(signal: AbortSignal): Promise<boolean> {
    const response = await fetchService(this.#url, this.#path, {
      headers: this.#headers,
      signal,
    }).catch(cause => {
      throw new Error(`the media service at ${this.#url} does not answer`, { cause })
    })
    if (!response.ok || !response.body) throw new Error(await readFailureReason(response))

    const epoch = Number(response.headers.get('X-Epoch'))
    let hasReceived = false
    for await (const { kind, bytes } of splitSegments(response.body)) {
      hasReceived = true
      if (kind === 'init') this.#listener.onInit(bytes, epoch)
      else this.#listener.onFragment(bytes)
    }
    return hasReceived
  }
}

/**
 * Returns the reason in the JSON body of an error response. A response of a proxy may
 * have a different body.
 */
async function readFailureReason(response: Response): Promise<string> {
  const body = (await response.json().catch(() => null)) as { reason?: unknown } | null
  const reason = body?.reason
  return typeof reason === 'string'
    ? reason
    : `the media service answered with status ${response.status}`
}
