import type { Sink } from './sink.ts'

/** Takes everything and keeps none of it. */
export class DiscardSink implements Sink {
  readonly failure = undefined
  #written = 0

  get written(): number {
    return this.#written
  }

  write(): void {
    this.#written++
  }

  async close(): Promise<void> {}
}
