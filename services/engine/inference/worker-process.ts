import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Provider } from '@eyrie/model-store/session'
import type { FromWorker, ToWorker, WorkerAnswer, WorkerNotice, WorkerRequest } from './worker-messages.ts'

/** Signals by which native code crashes; SIGKILL and SIGTERM come from outside. */
const CRASH_SIGNALS = new Set(['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGABRT', 'SIGTRAP'])
const STOP_TIMEOUT_MS = 1000

/** The worker has exited. */
export class WorkerExitError extends Error {
  override readonly name = 'WorkerExitError'
  /** The exit was caused by the model that was running. */
  readonly isCrash: boolean
  constructor(cause: string, isCrash: boolean) {
    super(cause)
    this.isCrash = isCrash
  }
}

/** A child process that runs models. */
export interface WorkerProcess {
  readonly pid: number
  readonly providers: Provider[]
  /** Resolves when the process has exited for any reason. */
  readonly exited: Promise<WorkerExitError>
  /**
   * Requests are answered in order. Rejects with an Error that holds the worker's reason, or with `WorkerExitError`, whose
   * `isCrash` can be true only for the request that was being answered.
   */
  request(request: WorkerRequest): Promise<WorkerAnswer>
  notify(notice: WorkerNotice): void
  stop(): Promise<void>
}

/** Starts a worker and waits until it is ready. A worker that takes longer than `timeoutMs` for a request is killed. */
export async function startWorker(timeoutMs: number): Promise<WorkerProcess> {
  const child = fork(fileURLToPath(new URL('./inference-worker.ts', import.meta.url)), [], {
    // Models are third-party code: they must not see the engine's environment, in particular its tokens.
    env: {},
    // Without Node's own SIGSEGV handler a native crash terminates the process at once.
    execArgv: ['--disable-wasm-trap-handler'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const exited = Promise.withResolvers<WorkerExitError>()
  let exit: WorkerExitError | undefined
  let timer: NodeJS.Timeout | undefined
  /** The answer to the first request is in progress; the others wait. */
  const pending: PromiseWithResolvers<FromWorker>[] = []

  const handleExit = (cause: WorkerExitError) => {
    exit ??= cause
    clearTimeout(timer)
    pending.shift()?.reject(exit)
    for (const { reject } of pending.splice(0)) reject(new WorkerExitError(exit.message, false))
    exited.resolve(exit)
  }
  const restartTimeout = () => {
    clearTimeout(timer)
    if (pending.length > 0) timer = setTimeout(killHung, timeoutMs)
  }
  const killHung = () => {
    handleExit(new WorkerExitError(`no answer within ${timeoutMs / 1000} s`, true))
    child.kill('SIGKILL')
  }
  child.on('message', (message: FromWorker) => {
    pending.shift()?.resolve(message)
    restartTimeout()
  })
  child.on('error', error => handleExit(new WorkerExitError(error.message, false)))
  child.on('exit', (code, signal) => {
    const isCrash = signal !== null && CRASH_SIGNALS.has(signal)
    handleExit(new WorkerExitError(signal ?? `exit code ${code}`, isCrash))
  })

  const nextAnswer = (): Promise<FromWorker> => {
    if (exit) return Promise.reject(new WorkerExitError(exit.message, false))
    const answer = Promise.withResolvers<FromWorker>()
    if (pending.push(answer) === 1) restartTimeout()
    return answer.promise
  }
  const send = (message: ToWorker) => {
    // Errors are ignored: the `exit` event reports why the worker exited.
    if (child.connected) child.send(message, () => {})
  }

  const ready = await nextAnswer()
  return {
    pid: child.pid!,
    providers: ready.type === 'ready' ? ready.providers : [],
    exited: exited.promise,
    request: async request => {
      send(request)
      const answer = await nextAnswer()
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
