import { EyrieError } from '@eyrie/contract'

/** When a run started and ends. Times are RFC 3339. */
export interface RunProgress {
  state: 'running' | 'ended'
  started: string
  /** When the run ends by itself, or has ended. */
  ends: string
}

/**
 * A version of a plugin, or a model, that runs in shadow: it processes the frames of the active
 * one, and its results are only compared.
 */
export interface ShadowRun<Comparison, Report> {
  /** What runs, as messages call it, such as `version 2.0.0 of crowd`. */
  label: string
  /** Maximum duration. */
  seconds: number
  /** Returns the comparisons with the active version so far. */
  compare(): Comparison[]
  /** Stops what runs. Called once. */
  end(): void
  /** Creates the report of the run, which differs for plugins and models. */
  toReport(progress: RunProgress, comparisons: Comparison[]): Report
}

export interface ShadowRunsOptions {
  /** Returns the command that ends the run of a plugin or model, for messages. */
  endCommand(name: string): string
  /** Returns the error message for a plugin or model that has not run in shadow. */
  describeMissing(name: string): string
}

/**
 * The runs in shadow. There is at most one run at a time for each plugin or model. The
 * report of its last run remains available until the engine stops. Here, `name` is the name
 * of the plugin or model.
 */
export class ShadowRuns<Comparison, Report> {
  readonly #options: ShadowRunsOptions
  readonly #runs = new Map<string, StartedRun<Comparison, Report>>()

  constructor(options: ShadowRunsOptions) {
    this.#options = options
  }

  /** Throws `EyrieError` (`conflict`) during a run of this plugin or model. */
  assertNotRunning(name: string): void {
    const run = this.#runs.get(name)
    if (!run?.isRunning) return
    const command = this.#options.endCommand(name)
    throw new EyrieError(
      'conflict',
      `${run.label} runs in shadow already: wait until it has ended, or end it with ${command}`,
    )
  }

  /** Starts a run, which replaces the report of an earlier one. Returns the first report. */
  start(name: string, run: ShadowRun<Comparison, Report>): Report {
    const started = new StartedRun(run)
    this.#runs.set(name, started)
    return started.report()
  }

  /** Throws `EyrieError` (`id`) if nothing has run in shadow. */
  report(name: string): Report {
    return this.#get(name).report()
  }

  /**
   * Ends a run, and returns its report. Throws `EyrieError` (`id`) if nothing has run in shadow.
   */
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

/** A run that has been started, and ends by itself after its maximum duration. */
class StartedRun<Comparison, Report> {
  readonly #run: ShadowRun<Comparison, Report>
  readonly #started = new Date()
  readonly #timer: NodeJS.Timeout
  #ends: Date
  /** The comparisons at the end of the run; undefined while it runs. */
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
