import { setTimeout as sleep } from 'node:timers/promises'
import { backoffDelayMs } from '@eyrie/kit'
import type { MediaAccess } from '../../media/frame-picture.ts'
import { segmentsOf } from './segments.ts'

export interface FollowerListener {
  /** What follows belongs to this init segment, in the stream time of this epoch. */
  begun(init: Buffer, epoch: number): void
  fragment(bytes: Buffer): void
  /** The stream cannot be had just now, and why. */
  refused(reason: string): void
}

const BACKOFF = { initialMs: 200, maxMs: 1000 }

/** Follows the live view of a source as media serves it, and comes back whenever it breaks off, for ever. */
export class StreamFollower {
  readonly #url: URL
  readonly #headers: Record<string, string>
  readonly #listener: FollowerListener
  readonly #stopping = new AbortController()
  #waiting = new AbortController()
  readonly #ended: Promise<void>

  constructor({ url, token }: MediaAccess, source: number, listener: FollowerListener) {
    this.#url = new URL(`/streams/${source}`, url)
    this.#headers = token ? { Authorization: `Bearer ${token}` } : {}
    this.#listener = listener
    this.#ended = this.#follow()
  }

  /** The stream is there for sure: to be tried at once. */
  hurry(): void {
    this.#waiting.abort()
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
        if (!signal.aborted) this.#listener.refused((error as Error).message)
      }
      this.#waiting = new AbortController()
      const either = AbortSignal.any([signal, this.#waiting.signal])
      await sleep(backoffDelayMs(attempt, BACKOFF, Math.random), undefined, { signal: either }).catch(
        () => {},
      )
    }
  }

  /** Whether anything came before the end. */
  async #receive(signal: AbortSignal): Promise<boolean> {
    const response = await fetch(this.#url, { headers: this.#headers, signal }).catch(cause => {
      throw new Error(`media at ${this.#url.origin} does not answer`, { cause })
    })
    if (!response.ok || !response.body) throw new Error(await refusal(response))
    const epoch = Number(response.headers.get('X-Epoch'))
    let received = false
    for await (const { kind, bytes } of segmentsOf(response.body)) {
      received = true
      if (kind === 'init') this.#listener.begun(bytes, epoch)
      else this.#listener.fragment(bytes)
    }
    return received
  }
}

async function refusal(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => undefined)
  const said = body !== null && typeof body === 'object' && 'reason' in body ? body.reason : undefined
  return typeof said === 'string' ? said : `media answers ${response.status}`
}
