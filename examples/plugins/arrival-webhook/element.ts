import { defineElement, definePlugin, type ElementFetch, z } from '@eyrie/element'

/** A track that is not detected for this long has left. If it returns, it arrives again. */
const ABSENCE_S = 60
/**
 * Number of calls that wait for the server. Older ones are dropped, because the latest
 * arrivals matter most.
 */
const MAX_WAITING = 20
const MAX_ATTEMPTS = 3
const RETRY_AFTER_S = 5

/** Reports each object when it appears for the first time, and calls a server. */
const arrivalWebhook = defineElement({
  args: z.strictObject({
    url: z
      .url()
      .default('https://hooks.example.com/arrivals')
      .meta({ description: 'Address to call. Its host and port must be those of the manifest' }),
    class: z.string().default('person').meta({ description: 'Class of the objects' }),
  }),
  events: {
    arrival: z.object({}),
  },

  open({ args, source, clock, metrics, log, fetch }) {
    if (!fetch) throw new Error('this element calls a server: install it with eyrie plugin add')
    const calls = new CallQueue(fetch, args.url, {
      onDone: () => metrics.add('calls'),
      onFailed: reason => {
        metrics.add('failed_calls')
        log.warn({ reason }, 'failed to call webhook')
      },
    })
    /** When each track was detected last, in seconds of stream time. */
    const lastSeen = new Map<number, number>()

    return {
      process({ objects, discontinuity }) {
        const now = clock.seconds
        // Track ids start again: from now on, they belong to other objects.
        if (discontinuity) lastSeen.clear()

        const events = []
        for (const { track, class: label, bbox } of objects) {
          if (label !== args.class || track === undefined) continue
          const isNew = !lastSeen.has(track)
          lastSeen.set(track, now)
          if (!isNew) continue
          events.push({ type: 'arrival' as const, track, class: label, bbox })
          calls.add({
            source: source.id,
            time: new Date(clock.time).toISOString(),
            class: label,
            track,
          })
        }
        // Last, because frames may be farther apart: an object in both of them has not left.
        for (const [track, seconds] of lastSeen) {
          if (now - seconds > ABSENCE_S) lastSeen.delete(track)
        }
        // Not awaited, because a call may take longer than the time for a frame.
        calls.sendNext(now)
        return { events }
      },
    }
  },
})

interface CallListeners {
  onDone(): void
  /** A call was dropped, or has failed several times. */
  onFailed(reason: string): void
}

/** Calls a server, one call at a time, and repeats failed calls. */
class CallQueue {
  readonly #fetch: ElementFetch
  readonly #url: string
  readonly #listeners: CallListeners
  readonly #waiting: { body: string; attempts: number }[] = []
  #isSending = false
  /** When the next call may start after a failure, in seconds of stream time. */
  #pausedUntil = 0

  constructor(fetch: ElementFetch, url: string, listeners: CallListeners) {
    this.#fetch = fetch
    this.#url = url
    this.#listeners = listeners
  }

  add(content: object): void {
    this.#waiting.push({ body: JSON.stringify(content), attempts: 0 })
    if (this.#waiting.length <= MAX_WAITING) return
    this.#waiting.shift()
    this.#listeners.onFailed('too many calls are waiting for the server')
  }

  /**
   * Starts the next call, unless one is in progress or has just failed. Further calls follow it.
   * `now` is in seconds of stream time.
   */
  sendNext(now: number): void {
    if (this.#isSending || now < this.#pausedUntil) return
    const call = this.#waiting.shift()
    if (!call) return
    this.#isSending = true
    this.#send(call.body)
      .then(this.#listeners.onDone, error => {
        call.attempts += 1
        this.#pausedUntil = now + RETRY_AFTER_S
        if (call.attempts < MAX_ATTEMPTS) this.#waiting.unshift(call)
        else this.#listeners.onFailed(error.message)
      })
      .finally(() => {
        this.#isSending = false
        // There may be no further frame: the video may have ended.
        this.sendNext(now)
      })
  }

  async #send(body: string): Promise<void> {
    const headers = { 'content-type': 'application/json' }
    const { status } = await this.#fetch(this.#url, { method: 'POST', headers, body })
    if (status >= 300) throw new Error(`${this.#url} has answered with status ${status}`)
  }
}

export default definePlugin({ 'arrival-webhook': arrivalWebhook })
