import { backoffDelayMs, fetchService, sleep } from '@eyrie/kit'
import { createWakeUp } from '@eyrie/kit/wake-up'
import type { MediaAccess } from '../../media/frame-picture.ts'
import { splitSegments } from './mp4-segments.ts'

/**
 * Is notified of the parts of a live stream, which is fragmented MP4: an init segment with the
 * codec parameters, then fragments with pictures.
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
  /** Ends the current delay before the next connection attempt early. */
  readonly #wakeUp = createWakeUp(this.#stopping.signal)
  /** Connection attempts since the last one that has received a segment. */
  #failedAttempts = 0
  readonly #ended: Promise<void>

  /** Starts to follow the live stream of a source. */
  constructor({ url, token }: MediaAccess, source: number, listener: StreamFollowerListener) {
    this.#url = url
    this.#path = `/streams/${source}`
    this.#headers = token ? { Authorization: `Bearer ${token}` } : {}
    this.#listener = listener
    this.#ended = this.#follow()
  }

  /**
   * Ends the delay before the next connection attempt, because the stream is known to be
   * available. Has no effect during an attempt.
   */
  retryNow(): void {
    this.#wakeUp.notify()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#ended
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        await this.#receive(signal)
      } catch (error) {
        if (!signal.aborted) this.#listener.onFailure((error as Error).message)
      }

      const delayMs = backoffDelayMs(this.#failedAttempts, RECONNECT_BACKOFF)
      await sleep(delayMs, this.#wakeUp.listen())
      this.#failedAttempts += 1
    }
  }

  /** Reads the stream until it ends. Throws an `Error` if it is unavailable or breaks off. */
  async #receive(signal: AbortSignal): Promise<void> {
    const response = await fetchService(this.#url, this.#path, {
      headers: this.#headers,
      signal,
    }).catch(cause => {
      throw new Error(`the media service at ${this.#url} does not answer`, { cause })
    })
    if (!response.ok || !response.body) throw new Error(await readFailureReason(response))

    const epoch = Number(response.headers.get('X-Epoch'))
    for await (const { kind, bytes } of splitSegments(response.body)) {
      this.#failedAttempts = 0
      if (kind === 'init') this.#listener.onInit(bytes, epoch)
      else this.#listener.onFragment(bytes)
    }
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
