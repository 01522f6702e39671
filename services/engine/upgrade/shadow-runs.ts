import { EyrieError } from '@eyrie/contract'

/** The state of a run in shadow, as reports have it. */
export interface RunProgress {
  state: 'running' | 'ended'
  started: string
  /** When the run ends by itself, or has ended. */
  ends: string
}

/** A version of a plugin, or a model, that runs in shadow: on the frames of the active one, without any effect. */
export interface ShadowRun<Comparison, Report> {
  /** What runs, for messages. */
  label: string
  /** Maximum duration. */
  seconds: number
  compare(): Comparison[]
  end(): void
  toReport(progress: RunProgress, comparisons: Comparison[]): Report
}

export interface ShadowRunsOptions {
  /** The command that ends the run of a plugin or model. */
  endCommand(name: string): string
  /** Says that nothing has run in shadow for a plugin or model. */
  describeMissing(name: string): string
}

/** The runs in shadow, one for each plugin or model. The report of the last one remains until the engine ends. */
export class ShadowRuns<Comparison, Report> {
  readonly #options: ShadowRunsOptions
  readonly #runs = new Map<string, StartedRun<Comparison, Report>>()

  constructor(options: ShadowRunsOptions) {
    this.#options = options
  }

  assertNotRunning(name: string): void {
    const run = this.#runs.get(name)
    if (run?.isRunning)
      throw new EyrieError(
        'conflict',
        `${run.label} runs in shadow already: wait until it has ended, or end it with ${this.#options.endCommand(name)}`,
      )
  }

  start(name: string, run: ShadowRun<Comparison, Report>): Report {
    const started = new StartedRun(run)
    this.#runs.set(name, started)
    return started.report()
  }

  /** Throws `EyrieError` (`id`) if nothing has run in shadow. */
  report(name: string): Report {
    return this.#get(name).report()
  }

  /** Throws `EyrieError` (`id`) if nothing has run in shadow. */
  end(name: string): Report {
    const run = this.#get(name)
    run.end()
    return run.report()
  }

  endIfRunning(name: string): void {
    this.#runs.get(name)?.end()
  }

  endAll(): void {
    for (const run of this.#runs.values()) run.end()
  }

  #get(name: string): StartedRun<Comparison, Report> {
    const run = this.#runs.get(name)
    if (run) return run
    throw new EyrieError('id', this.#options.describeMissing(name))
  }
}

class StartedRun<Comparison, Report> {
  readonly #run: ShadowRun<Comparison, Report>
  readonly #started = new Date()
  readonly #timer: NodeJS.Timeout
  #ends: Date
  /** What the run has found, after its end. */
  #result: Comparison[] | undefined

  constructor(run: ShadowRun<Comparison, Report>) {
    this.#run = run
    this.#ends = new Date(this.#started.getTime() + run.seconds * 1000)
    this.#timer = setTimeout(() => this.end(), run.seconds * 1000)
    this.#timer.unref()
  }

  get label(): string {
    return this.#run.label
  }

  get isRunning(): boolean {
    return this.#result === undefined
  }

  end(): void {
    if (this.#result) return
    clearTimeout(this.#timer)
    this.#result = this.#run.compare()
    this.#run.end()
    this.#ends = new Date()
  }

  report(): Report {
    const progress = {
      state: this.isRunning ? 'running' : 'ended',
      started: this.#started.toISOString(),
      ends: this.#ends.toISOString(),
    } as const
    return this.#run.toReport(progress, this.#result ?? this.#run.compare())
  }
}
