import { setTimeout as sleep } from 'node:timers/promises'
import { backoffDelayMs } from '@eyrie/kit'
import type { MediaAccess } from '../../media/frame-picture.ts'
import { splitSegments } from './mp4-segments.ts'

export interface StreamFollowerListener {
  /** All following fragments belong to this init segment. `epoch` defines their stream time. */
  onInit(init: Buffer, epoch: number): void
  onFragment(bytes: Buffer): void
  /** The stream is currently unavailable. */
  onFailure(reason: string): void
}

const BACKOFF = { initialMs: 200, maxMs: 1000 }

/** Reads the live stream of a source from media and reconnects until it is stopped. */
export class StreamFollower {
  readonly #url: URL
  readonly #headers: Record<string, string>
  readonly #listener: StreamFollowerListener
  readonly #stopping = new AbortController()
  /** Aborted to end the current back-off early. */
  #backoff = new AbortController()
  readonly #ended: Promise<void>

  constructor({ url, token }: MediaAccess, source: number, listener: StreamFollowerListener) {
    this.#url = new URL(`/streams/${source}`, url)
    this.#headers = token ? { Authorization: `Bearer ${token}` } : {}
    this.#listener = listener
    this.#ended = this.#follow()
  }

  /** Ends the current back-off, because the stream is known to be available. */
  retryNow(): void {
    this.#backoff.abort()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#ended
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopping
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        if (await this.#receive(signal)) attempt = 0
      } catch (error) {
        if (!signal.aborted) this.#listener.onFailure((error as Error).message)
      }
      this.#backoff = new AbortController()
      const interrupted = AbortSignal.any([signal, this.#backoff.signal])
      await sleep(backoffDelayMs(attempt, BACKOFF, Math.random), undefined, { signal: interrupted }).catch(
        () => {},
      )
    }
  }

  /** Reads the stream to its end. Returns whether it contained anything. */
  async #receive(signal: AbortSignal): Promise<boolean> {
    const response = await fetch(this.#url, { headers: this.#headers, signal }).catch(cause => {
      throw new Error(`media at ${this.#url.origin} does not answer`, { cause })
    })
    if (!response.ok || !response.body) throw new Error(await readReason(response))
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

async function readReason(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => undefined)
  const reason = body !== null && typeof body === 'object' && 'reason' in body ? body.reason : undefined
  return typeof reason === 'string' ? reason : `media answered ${response.status}`
}
