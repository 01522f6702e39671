import type { HostedStream, MessageFromMedia } from '@eyrie/contract/media'

type Watched = Extract<MessageFromMedia, { type: 'watched' }>
type Failure = Extract<MessageFromMedia, { type: 'stream' }>

/** The annotated streams that are wanted of media, and what it has said of them. */
export class AnnotatedStreams {
  readonly #wanted = new Map<object, readonly HostedStream[]>()
  readonly #watched = new Set<string>()
  readonly #failures = new Map<string, string>()

  get wanted(): HostedStream[] {
    return [...this.#wanted.values()].flat()
  }

  /** Whoever calls again wants these streams instead of those before. */
  want(owner: object, streams: readonly HostedStream[]): void {
    if (streams.length > 0) this.#wanted.set(owner, streams)
    else this.#wanted.delete(owner)
    const names = new Set(this.wanted.map(({ name }) => name))
    for (const name of this.#failures.keys()) if (!names.has(name)) this.#failures.delete(name)
  }

  isWatched(stream: string): boolean {
    return this.#watched.has(stream)
  }

  failureOf(stream: string): string | undefined {
    return this.#failures.get(stream)
  }

  hear(message: Watched | Failure): void {
    const { stream } = message
    if (message.type === 'watched') {
      if (message.watched) this.#watched.add(stream)
      else this.#watched.delete(stream)
    } else if (message.reason) this.#failures.set(stream, message.reason)
    else this.#failures.delete(stream)
  }

  /** Media is away; when it comes back it says everything anew. */
  forget(): void {
    this.#watched.clear()
    this.#failures.clear()
  }
}
