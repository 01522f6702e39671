import type { ProcessUsage } from './process-usage.ts'

/** Memory of a process, beyond which it is ended. */
export const MAX_RESIDENT_BYTES = 512 * 2 ** 20

/** The usage is judged over periods of this length, because single frames may take longer than others. */
const PERIOD_MS = 5000
/** CPU time of a period that is not for frames, such as collecting garbage. */
const PERIOD_BASE_CPU_MS = 250
/** More is not for analysing the frames of one channel. */
const MAX_CORES = 1.5

export interface UsageLimitsOptions {
  /** CPU time per frame that the manifest declares, in ms. */
  budgetMs: number | undefined
  /** Receives the mean CPU time per frame of a period in ms, once for each of its frames. */
  onCost(ms: number): void
}

/**
 * Judges what a process uses: its memory at each sample, and its CPU time over periods. The first period is
 * not judged, because V8 has not compiled the code yet.
 */
export class UsageLimits {
  readonly #options: UsageLimitsOptions
  #start: { at: number; cpuMs: number; frames: number } | undefined
  #isFirstPeriod = true

  constructor(options: UsageLimitsOptions) {
    this.#options = options
  }

  /**
   * Returns which limit is exceeded; undefined if none is. `frames` are the frames processed so far, undefined while the
   * element is opened; `now` is in ms.
   */
  check(
    { cpuMs, residentBytes }: Pick<ProcessUsage, 'cpuMs' | 'residentBytes'>,
    frames: number | undefined,
    now: number,
  ): string | undefined {
    if (residentBytes > MAX_RESIDENT_BYTES)
      return `it uses ${toMiB(residentBytes)} MiB of memory, more than ${toMiB(MAX_RESIDENT_BYTES)}`

    if (frames === undefined) return undefined
    this.#start ??= { at: now, cpuMs, frames }
    const elapsedMs = now - this.#start.at
    if (elapsedMs < PERIOD_MS) return undefined

    const used = cpuMs - this.#start.cpuMs
    const processed = frames - this.#start.frames
    const isFirst = this.#isFirstPeriod
    this.#start = { at: now, cpuMs, frames }
    this.#isFirstPeriod = false
    for (let frame = 0; frame < processed; frame += 1) this.#options.onCost(used / processed)
    return isFirst ? undefined : this.#judgePeriod(used, processed, elapsedMs)
  }

  #judgePeriod(used: number, processed: number, elapsedMs: number): string | undefined {
    const cores = used / elapsedMs
    if (cores > MAX_CORES) return `it uses ${cores.toFixed(1)} cores, more than ${MAX_CORES}`

    const { budgetMs } = this.#options
    if (budgetMs === undefined || used <= budgetMs * processed + PERIOD_BASE_CPU_MS) return undefined
    if (processed === 0) return `it uses ${used} ms of CPU time in ${elapsedMs / 1000} s without a frame`
    const perFrame = (used / processed).toFixed(1)
    return `it uses ${perFrame} ms of CPU time per frame, more than the budget_ms of ${budgetMs} in its manifest`
  }
}

const toMiB = (bytes: number) => Math.round(bytes / 2 ** 20)
