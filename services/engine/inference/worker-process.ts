import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Provider } from '@eyrie/model-store/session'
import type { FromWorker, ToWorker, WorkerAnswer, WorkerNotice, WorkerRequest } from './worker-messages.ts'

/** Signals by which native code dies of its own doing; a SIGKILL or SIGTERM comes from outside. */
const crashSignals = new Set(['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGABRT', 'SIGTRAP'])
const STOP_TIMEOUT_MS = 1000

/** The worker is gone. `isCrash` says that the model it was running is to blame. */
export class WorkerDied extends Error {
  override readonly name = 'WorkerDied'
  readonly isCrash: boolean
  constructor(how: string, isCrash: boolean) {
    super(how)
    this.isCrash = isCrash
  }
}

/** A child process that runs models. */
export interface WorkerProcess {
  readonly pid: number
  readonly providers: Provider[]
  /** Resolves when the process has ended, however that came. */
  readonly died: Promise<WorkerDied>
  /**
   * Requests are answered one after the other. Rejects with an Error that holds the worker's reason, or with
   * `WorkerDied`, which blames the request that was being answered.
   */
  ask(request: WorkerRequest): Promise<WorkerAnswer>
  tell(notice: WorkerNotice): void
  stop(): Promise<void>
}

/** Starts a worker and waits until it is ready. A request that takes longer than `timeoutMs` ends the worker. */
export async function startWorker(timeoutMs: number): Promise<WorkerProcess> {
  const child = fork(fileURLToPath(new URL('./inference-worker.ts', import.meta.url)), [], {
    // Models come from strangers: nothing of the engine's environment, tokens above all, is any of their business.
    env: {},
    // Without Node's own handler of SIGSEGV a native crash ends the process at once.
    execArgv: ['--disable-wasm-trap-handler'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const died = Promise.withResolvers<WorkerDied>()
  let death: WorkerDied | undefined
  let timer: NodeJS.Timeout | undefined
  /** The first is being answered, the others wait. */
  const expected: PromiseWithResolvers<FromWorker>[] = []

  const die = (reason: WorkerDied) => {
    death ??= reason
    clearTimeout(timer)
    expected.shift()?.reject(death)
    for (const { reject } of expected.splice(0)) reject(new WorkerDied(death.message, false))
    died.resolve(death)
  }
  const watch = () => {
    clearTimeout(timer)
    if (expected.length > 0) timer = setTimeout(hang, timeoutMs)
  }
  const hang = () => {
    die(new WorkerDied(`no answer within ${timeoutMs / 1000} s`, true))
    child.kill('SIGKILL')
  }
  child.on('message', (message: FromWorker) => {
    expected.shift()?.resolve(message)
    watch()
  })
  child.on('error', error => die(new WorkerDied(error.message, false)))
  child.on('exit', (code, signal) =>
    die(new WorkerDied(signal ?? `exit code ${code}`, signal !== null && crashSignals.has(signal))),
  )

  const next = (): Promise<FromWorker> => {
    if (death) return Promise.reject(new WorkerDied(death.message, false))
    const answer = Promise.withResolvers<FromWorker>()
    if (expected.push(answer) === 1) watch()
    return answer.promise
  }
  const send = (message: ToWorker) => {
    // What cannot be sent any more needs no error of its own: `exit` tells how the worker ended.
    if (child.connected) child.send(message, () => {})
  }

  const ready = await next()
  return {
    pid: child.pid!,
    providers: ready.type === 'ready' ? ready.providers : [],
    died: died.promise,
    ask: async request => {
      send(request)
      const answer = await next()
      if (answer.type === 'failed') throw new Error(answer.reason)
      return answer as WorkerAnswer
    },
    tell: send,
    stop: async () => {
      if (child.connected) child.disconnect()
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
      await died.promise
      clearTimeout(timer)
    },
  }
}
