import type { HostedStream, MessageFromMedia } from '@eyrie/contract/media'

type StreamWatched = Extract<MessageFromMedia, { type: 'watched' }>
type StreamFailed = Extract<MessageFromMedia, { type: 'stream' }>

/** The annotated streams that sinks request from media, and their status. */
export class AnnotatedStreams {
  readonly #byOwner = new Map<object, readonly HostedStream[]>()
  readonly #watched = new Set<string>()
  readonly #failures = new Map<string, string>()

  get streams(): HostedStream[] {
    return [...this.#byOwner.values()].flat()
  }

  /** Replaces the streams of `owner`. */
  setStreams(owner: object, streams: readonly HostedStream[]): void {
    if (streams.length > 0) this.#byOwner.set(owner, streams)
    else this.#byOwner.delete(owner)
    const names = new Set(this.streams.map(({ name }) => name))
    for (const name of this.#failures.keys()) if (!names.has(name)) this.#failures.delete(name)
  }

  isWatched(stream: string): boolean {
    return this.#watched.has(stream)
  }

  findFailure(stream: string): string | undefined {
    return this.#failures.get(stream)
  }

  update(message: StreamWatched | StreamFailed): void {
    const { stream } = message
    if (message.type === 'watched') {
      if (message.watched) this.#watched.add(stream)
      else this.#watched.delete(stream)
    } else if (message.reason) this.#failures.set(stream, message.reason)
    else this.#failures.delete(stream)
  }

  /** Clears the status of all streams: media sends it again after a reconnect. */
  reset(): void {
    this.#watched.clear()
    this.#failures.clear()
  }
}
