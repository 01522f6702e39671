import { parentPort, Worker } from 'node:worker_threads'

/** The methods of a worker thread as called from another thread: each returns a promise. */
export type Remote<Methods> = {
  [Name in keyof Methods]: Methods[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never
}

interface Request {
  id: number
  method: string
  args: unknown[]
}

interface Response {
  id: number
  value?: unknown
  error?: unknown
}

/** Starts a thread whose module calls `serveThread`. Calls are rejected once the thread has ended. */
export function startThread<Methods>(
  url: URL,
  workerData: unknown,
): { remote: Remote<Methods>; end(): void } {
  const pending = new Map<number, PromiseWithResolvers<unknown>>()
  const thread = new Worker(url, { workerData })
  let lastId = 0
  let failure: Error | undefined

  thread.on('message', ({ id, value, error }: Response) => {
    const call = pending.get(id)
    pending.delete(id)
    if (error !== undefined) call?.reject(error)
    else call?.resolve(value)
  })
  thread.on('error', error => {
    failure = error as Error
  })
  thread.on('exit', () => {
    failure ??= new Error('the worker thread has ended')
    for (const { reject } of pending.values()) reject(failure)
    pending.clear()
  })

  const call = (method: string, args: unknown[]) => {
    if (failure) return Promise.reject(failure)
    const result = Promise.withResolvers<unknown>()
    const id = ++lastId
    pending.set(id, result)
    thread.postMessage({ id, method, args } satisfies Request)
    return result.promise
  }
  const remote = new Proxy({} as Remote<Methods> & object, {
    // There is no `then`: awaiting the proxy must not call the thread.
    get: (_, method) =>
      typeof method === 'string' && method !== 'then'
        ? (...args: unknown[]) => call(method, args)
        : undefined,
  })
  return { remote, end: () => void thread.terminate() }
}

/** Serves these methods to the thread that started this one. */
export function serveThread<Methods extends Record<keyof Methods, unknown>>(served: Methods): void {
  const methods = served as Record<string, (...args: unknown[]) => unknown>
  parentPort!.on('message', async ({ id, method, args }: Request) => {
    const response = await Promise.resolve()
      .then(() => methods[method]!.call(served, ...args))
      .then(
        (value): Response => ({ id, value }),
        (error): Response => ({ id, error }),
      )
    parentPort!.postMessage(response)
  })
}
