import type { HostedStream, MessageFromMedia } from '@eyrie/contract/media'

type StreamWatched = Extract<MessageFromMedia, { type: 'watched' }>
type StreamFailed = Extract<MessageFromMedia, { type: 'stream' }>

/**
 * The annotated streams that the sinks of channels have requested, and their status. An annotated
 * stream is a copy of a source into which the media service draws detected objects.
 */
export class AnnotatedStreams {
  /** The requested streams by sink. */
  readonly #byOwner = new Map<object, readonly HostedStream[]>()
  /** Names of the streams that have viewers. */
  readonly #watched = new Set<string>()
  /** Reasons by stream name. */
  readonly #failures = new Map<string, string>()

  get streams(): HostedStream[] {
    return [...this.#byOwner.values()].flat()
  }

  /** Replaces the streams of a sink. */
  setStreams(owner: object, streams: readonly HostedStream[]): void {
    if (streams.length > 0) this.#byOwner.set(owner, streams)
    else this.#byOwner.delete(owner)

    const requestedNames = new Set(this.streams.map(({ name }) => name))
    for (const name of this.#failures.keys()) {
      if (!requestedNames.has(name)) this.#failures.delete(name)
    }
  }

  isWatched(stream: string): boolean {
    return this.#watched.has(stream)
  }

  /** Returns the reason why the media service cannot serve a stream; undefined if it can. */
  findFailure(stream: string): string | undefined {
    return this.#failures.get(stream)
  }

  update(message: StreamWatched | StreamFailed): void {
    if (message.type === 'watched') this.#updateWatched(message)
    else this.#updateFailure(message)
  }

  /** Clears the status of all streams. The media service sends it again after a reconnect. */
  reset(): void {
    this.#watched.clear()
    this.#failures.clear()
  }

  #updateWatched({ stream, watched }: StreamWatched): void {
    if (watched) this.#watched.add(stream)
    else this.#watched.delete(stream)
  }

  /** A message without a reason reports that the stream works again. */
  #updateFailure({ stream, reason }: StreamFailed): void {
    if (reason) this.#failures.set(stream, reason)
    else this.#failures.delete(stream)
  }
}
