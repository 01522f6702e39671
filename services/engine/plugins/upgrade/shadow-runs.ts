import { EyrieError } from '@eyrie/contract'
import type { ShadowReport } from '@eyrie/contract/plugin-upgrade'
import type { RunningShadow } from '../../plugin-host/running-shadow.ts'
import { judgeShadow } from '../../plugin-host/shadow/shadow-verdict.ts'

/** What runs in shadow. */
export interface ShadowRun {
  plugin: string
  active: string
  version: string
  seconds: number
  running: RunningShadow
}

/** The runs of versions in shadow, one for each plugin. The report of the last one remains until the engine ends. */
export class ShadowRuns {
  readonly #runs = new Map<string, StartedRun>()

  assertNotRunning(plugin: string): void {
    const run = this.#runs.get(plugin)
    if (run?.isRunning)
      throw new EyrieError(
        'conflict',
        `version ${run.version} of ${plugin} runs in shadow already: wait until it has ended, or end it with eyrie plugin shadow ${plugin} --end`,
      )
  }

  start(run: ShadowRun): ShadowReport {
    const started = new StartedRun(run)
    this.#runs.set(run.plugin, started)
    return started.report()
  }

  /** Throws `EyrieError` (`id`) if no version of the plugin has run in shadow. */
  report(plugin: string): ShadowReport {
    return this.#get(plugin).report()
  }

  /** Throws `EyrieError` (`id`) if no version of the plugin has run in shadow. */
  end(plugin: string): ShadowReport {
    const run = this.#get(plugin)
    run.end()
    return run.report()
  }

  endAll(): void {
    for (const run of this.#runs.values()) run.end()
  }

  #get(plugin: string): StartedRun {
    const run = this.#runs.get(plugin)
    if (run) return run
    throw new EyrieError('id', `no version of ${plugin} has run in shadow since the engine was started`)
  }
}

class StartedRun {
  readonly #run: ShadowRun
  readonly #started = new Date()
  readonly #timer: NodeJS.Timeout
  #ends: Date
  /** What the run has found, after its end. */
  #result: ShadowReport['channels'] | undefined

  constructor(run: ShadowRun) {
    this.#run = run
    this.#ends = new Date(this.#started.getTime() + run.seconds * 1000)
    this.#timer = setTimeout(() => this.end(), run.seconds * 1000)
    this.#timer.unref()
  }

  get version(): string {
    return this.#run.version
  }

  get isRunning(): boolean {
    return this.#result === undefined
  }

  end(): void {
    if (this.#result) return
    clearTimeout(this.#timer)
    this.#result = this.#run.running.compare()
    this.#run.running.end()
    this.#ends = new Date()
  }

  report(): ShadowReport {
    const { plugin, active, version, running } = this.#run
    const channels = this.#result ?? running.compare()
    return {
      plugin,
      active,
      version,
      state: this.isRunning ? 'running' : 'ended',
      started: this.#started.toISOString(),
      ends: this.#ends.toISOString(),
      channels,
      ...judgeShadow({ active, version }, channels),
    }
  }
}
