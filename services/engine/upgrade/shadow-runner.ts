import { FrameDroppedError } from '@eyrie/element/inference'
import { sleep } from '@eyrie/kit'

/** After this number of failures, the target is not opened again. */
const MAX_FAILURES = 10
const REOPEN_DELAY_MS = 500

/** Records what happens to the frames that are offered to a runner. */
export interface ShadowRecorder {
  recordSkipped(): void
  recordFailure(reason: string): void
  /** Called when the target has failed too often, and is not opened again. */
  recordProblem(problem: string): void
}

export interface ShadowRunnerOptions<Target> {
  /** Opens the element or model that runs in shadow. */
  open(): Promise<Target>
  recorder: ShadowRecorder
}

/** Runs a target on a frame. Resolves with the function that records the result. */
type ShadowWork<Target> = (target: Target) => Promise<() => void>

/**
 * Runs a target, which is an element or a model, in shadow on a channel. The channel never
 * waits for it: frames that arrive while the target is busy are skipped. After a failure, the
 * target is opened again.
 */
export class ShadowRunner<Target extends { close?(): void }> {
  readonly #options: ShadowRunnerOptions<Target>
  readonly #closing = new AbortController()
  #target: Target | undefined
  #isBusy = false
  #failures = 0

  constructor(options: ShadowRunnerOptions<Target>) {
    this.#options = options
    void this.#open()
  }

  /** Runs `work` on a frame, unless the target is busy. */
  offer(work: ShadowWork<Target>): void {
    if (this.#target && !this.#isBusy) void this.#process(this.#target, work)
    else this.#options.recorder.recordSkipped()
  }

  close(): void {
    this.#closing.abort()
    this.#target?.close?.()
    this.#target = undefined
  }

  async #open(): Promise<void> {
    const { signal } = this.#closing
    try {
      const target = await this.#options.open()
      if (signal.aborted) target.close?.()
      else this.#target = target
    } catch (error) {
      await this.#fail(error)
    }
  }

  async #process(target: Target, work: ShadowWork<Target>): Promise<void> {
    this.#isBusy = true
    try {
      const record = await work(target)
      if (!this.#closing.signal.aborted) record()
    } catch (error) {
      if (error instanceof FrameDroppedError) this.#options.recorder.recordSkipped()
      else await this.#fail(error)
    } finally {
      this.#isBusy = false
    }
  }

  /** Closes the target, and opens it again after a delay, unless it has failed too often. */
  async #fail(error: unknown): Promise<void> {
    const { signal } = this.#closing
    const { recorder } = this.#options
    if (signal.aborted) return

    this.#target?.close?.()
    this.#target = undefined
    recorder.recordFailure((error as Error).message)
    this.#failures += 1
    if (this.#failures >= MAX_FAILURES) {
      recorder.recordProblem(`it has failed ${MAX_FAILURES} times`)
      return
    }
    await sleep(REOPEN_DELAY_MS, signal)
    if (!signal.aborted) void this.#open()
  }
}
