import { setPriority } from 'node:os'
import type { Isolation } from '@eyrie/contract/health'
import type { Log } from '@eyrie/kit'
import { toIsolation } from '@eyrie/kit/launcher/isolation'
import type { Provider } from '@eyrie/model-store/session'
import { launchWorker } from './launch-worker.ts'
import type {
  FromWorker,
  ToWorker,
  WorkerAnswer,
  WorkerNotice,
  WorkerRequest,
} from './worker-messages.ts'

/**
 * The signals of native crashes. SIGKILL and SIGTERM are missing, because other
 * processes send them.
 */
const CRASH_SIGNALS = new Set(['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGABRT', 'SIGTRAP'])
/** Time that a worker has to exit before it is killed. */
const STOP_TIMEOUT_MS = 1000

/**
 * An inference worker: a child process of the engine that runs models. See
 * `inference-worker.ts` for its code.
 */
export interface WorkerProcess {
  readonly pid: number
  readonly providers: Provider[]
  /** Whether all code of the worker was compiled in advance. */
  readonly isCompiled: boolean
  /** The boundaries around the process. */
  readonly isolation: Isolation
  /** Resolves when the process has exited for any reason. */
  readonly exited: Promise<WorkerExitError>
  /**
   * Sends a request and returns the answer. The worker handles one request at a time, in their
   * order. Rejects with the reason if the request fails. Rejects with `WorkerExitError` if the
   * worker exits; `isCrash` is then true only for the request that it was handling.
   */
  request(request: WorkerRequest): Promise<WorkerAnswer>
  /** Sends a notice, which the worker does not answer. */
  notify(notice: WorkerNotice): void
  /** Resolves when the process has exited. */
  stop(): Promise<void>
}

/** The error of requests to a worker that has exited. */
export class WorkerExitError extends Error {
  override readonly name = 'WorkerExitError'
  /** Whether the request, which runs or loads a model, has caused the exit. */
  readonly isCrash: boolean
  constructor(cause: string, isCrash: boolean) {
    super(cause)
    this.isCrash = isCrash
  }
}

export interface WorkerOptions {
  /** A worker that does not answer a request within this time is killed. */
  timeoutMs: number
  /**
   * The folders that workers may read: those of the models and of the frame rings. They must exist.
   */
  folders: readonly string[]
  /** Maximum memory in bytes; that of the machine by default. */
  dataBytes?: number | undefined
  /**
   * Nice value of the process, 0 (the default) to 19. Other processes have priority over one
   * with a higher value.
   */
  niceness?: number | undefined
  log: Log
}

/**
 * Starts a worker and waits until it is ready. Throws an `Error` with the reason if it does not
 * start.
 */
export async function startWorker(options: WorkerOptions): Promise<WorkerProcess> {
  const { timeoutMs, folders, dataBytes, niceness, log } = options
  const { child, report: launchReport } = launchWorker(folders, dataBytes)
  const exited = Promise.withResolvers<WorkerExitError>()
  const answers = new PendingAnswers(timeoutMs, killHung)

  function killHung(): void {
    handleExit(new WorkerExitError(`no answer within ${timeoutMs / 1000} s`, true))
    child.kill('SIGKILL')
  }

  /** Only the first call has an effect: a killed worker also emits `exit`. */
  function handleExit(exit: WorkerExitError): void {
    answers.end(exit)
    exited.resolve(exit)
  }

  child.on('message', (message: FromWorker) => answers.resolveFirst(message))
  for (const output of [child.stdout, child.stderr]) {
    output?.on('data', (text: Buffer) =>
      log.warn({ pid: child.pid, output: String(text) }, 'inference worker output'),
    )
  }
  child.on('error', error => handleExit(new WorkerExitError(error.message, false)))
  child.on('exit', (code, signal) => {
    const isCrash = signal !== null && CRASH_SIGNALS.has(signal)
    handleExit(new WorkerExitError(signal ?? `exit code ${code}`, isCrash))
  })

  function send(message: ToWorker): void {
    // Errors are ignored: the `exit` event reports why the worker exited.
    if (child.connected) child.send(message, () => {})
  }

  // A worker that has started sends `ready` without a request.
  const ready = await answers.expect().catch(async error => {
    // The launcher knows better why the worker has not started.
    const report = await launchReport
    throw 'error' in report ? new Error(report.error) : error
  })

  if (niceness !== undefined) setPriority(child.pid!, niceness)
  return {
    pid: child.pid!,
    providers: ready.type === 'ready' ? ready.providers : [],
    isCompiled: ready.type === 'ready' && ready.isCompiled,
    isolation: toIsolation(await launchReport),
    exited: exited.promise,
    request: async request => {
      send(request)
      const answer = await answers.expect()
      if (answer.type === 'failed') throw new Error(answer.reason)
      return answer as WorkerAnswer
    },
    notify: send,
    stop: async () => {
      if (child.connected) child.disconnect()
      const killTimer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
      await exited.promise
      clearTimeout(killTimer)
    },
  }
}

/**
 * The answers that a worker has not sent yet. A worker handles its requests in order, so the first
 * answer belongs to the request that it handles now.
 */
class PendingAnswers {
  readonly #timeoutMs: number
  readonly #onTimeout: () => void
  readonly #pending: PromiseWithResolvers<FromWorker>[] = []
  #timer: NodeJS.Timeout | undefined
  /** Why the worker has exited; undefined while it runs. */
  #exit: WorkerExitError | undefined

  /** Calls `onTimeout` if the first answer does not arrive within `timeoutMs`. */
  constructor(timeoutMs: number, onTimeout: () => void) {
    this.#timeoutMs = timeoutMs
    this.#onTimeout = onTimeout
  }

  /** Returns the answer to the latest request. */
  expect(): Promise<FromWorker> {
    if (this.#exit) return Promise.reject(new WorkerExitError(this.#exit.message, false))
    const answer = Promise.withResolvers<FromWorker>()
    this.#pending.push(answer)
    if (this.#pending.length === 1) this.#restartTimer()
    return answer.promise
  }

  resolveFirst(message: FromWorker): void {
    this.#pending.shift()?.resolve(message)
    this.#restartTimer()
  }

  /** Rejects all answers. If the worker has crashed, only the first request has caused it. */
  end(exit: WorkerExitError): void {
    this.#exit ??= exit
    clearTimeout(this.#timer)
    this.#pending.shift()?.reject(exit)
    for (const answer of this.#pending.splice(0)) {
      answer.reject(new WorkerExitError(exit.message, false))
    }
  }

  #restartTimer(): void {
    clearTimeout(this.#timer)
    if (this.#pending.length > 0) this.#timer = setTimeout(this.#onTimeout, this.#timeoutMs)
  }
}
