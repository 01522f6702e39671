import type { ProcessUsage } from './process-usage.ts'

/** A process that uses more memory is ended. */
export const MAX_RESIDENT_BYTES = 512 * 2 ** 20

/**
 * The usage is judged over periods of this length, because single frames may take longer than
 * others.
 */
const PERIOD_MS = 5000
/**
 * CPU time in a period that is permitted in addition to the budget for frames, for example for
 * the garbage collection.
 */
const PERIOD_BASE_CPU_MS = 250
/** Maximum number of cores in use, averaged over a period. The frames of one channel need less. */
const MAX_CORES = 1.5

export interface UsageLimitsOptions {
  /** CPU time per frame that the manifest declares, in ms. */
  budgetMs: number | undefined
  /**
   * Receives CPU time per frame in ms: at the end of a period, the mean of the period, once
   * for each of its frames.
   */
  onCost(ms: number): void
}

/** What a process has used and processed up to a time, in ms. */
interface Sample {
  time: number
  cpuMs: number
  frames: number
}

/** What a process has used and processed between two samples. */
interface Period {
  elapsedMs: number
  cpuMs: number
  frames: number
}

/**
 * Checks the usage of a process: its memory in each sample, and its CPU time once per period. The
 * CPU time of the first period is not checked, because V8 still compiles the code.
 */
export class UsageLimits {
  readonly #options: UsageLimitsOptions
  /** The sample at the start of the current period; undefined before the first period. */
  #start: Sample | undefined
  #isFirstPeriod = true

  constructor(options: UsageLimitsOptions) {
    this.#options = options
  }

  /**
   * Checks a sample. Returns which limit is exceeded; undefined if none is. `frames` is the number
   * of frames processed so far, undefined while the element is opened; `now` is in ms.
   */
  check(
    { cpuMs, residentBytes }: Pick<ProcessUsage, 'cpuMs' | 'residentBytes'>,
    frames: number | undefined,
    now: number,
  ): string | undefined {
    if (residentBytes > MAX_RESIDENT_BYTES) {
      return `it uses ${toMiB(residentBytes)} MiB of memory, more than ${toMiB(MAX_RESIDENT_BYTES)}`
    }

    if (frames === undefined) return undefined
    const sample = { time: now, cpuMs, frames }
    this.#start ??= sample
    const period = toPeriod(this.#start, sample)
    if (period.elapsedMs < PERIOD_MS) return undefined

    const isFirst = this.#isFirstPeriod
    this.#start = sample
    this.#isFirstPeriod = false
    this.#reportCosts(period)
    return isFirst ? undefined : this.#checkPeriod(period)
  }

  #reportCosts({ cpuMs, frames }: Period): void {
    for (let frame = 0; frame < frames; frame += 1) this.#options.onCost(cpuMs / frames)
  }

  #checkPeriod({ elapsedMs, cpuMs, frames }: Period): string | undefined {
    const cores = cpuMs / elapsedMs
    if (cores > MAX_CORES) return `it uses ${cores.toFixed(1)} cores, more than ${MAX_CORES}`

    const { budgetMs } = this.#options
    if (budgetMs === undefined || cpuMs <= budgetMs * frames + PERIOD_BASE_CPU_MS) {
      return undefined
    }
    if (frames === 0) {
      return `it uses ${cpuMs} ms of CPU time in ${elapsedMs / 1000} s without a frame`
    }
    const perFrame = (cpuMs / frames).toFixed(1)
    return `it uses ${perFrame} ms of CPU time per frame, more than the budget_ms of ${budgetMs} in its manifest`
  }
}

const toPeriod = (start: Sample, end: Sample): Period => ({
  elapsedMs: end.time - start.time,
  cpuMs: end.cpuMs - start.cpuMs,
  frames: end.frames - start.frames,
})

const toMiB = (bytes: number) => Math.round(bytes / 2 ** 20)
