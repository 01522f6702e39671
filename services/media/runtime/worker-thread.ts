import { parentPort, Worker } from 'node:worker_threads'

/**
 * The methods of an object in a worker thread, as another thread calls them: each one returns a
 * promise. `serveThread` offers the object in the worker thread, and `startThread` calls it.
 */
export type Remote<Methods> = {
  [Name in keyof Methods]: Methods[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never
}

/** A call of a method, as sent to the worker thread. */
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

/**
 * Starts a thread. Its module must call `serveThread`, whose methods can then be called on
 * `remote`. Calls are rejected once the thread has ended.
 */
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

  function call(method: string, args: unknown[]): Promise<unknown> {
    if (failure) return Promise.reject(failure)

    const result = Promise.withResolvers<unknown>()
    lastId++
    pending.set(lastId, result)
    thread.postMessage({ id: lastId, method, args } satisfies Request)
    return result.promise
  }

  const remote = new Proxy({} as Remote<Methods> & object, {
    get(_target, method) {
      // Without a method `then`, the proxy can be awaited like any other object.
      if (typeof method !== 'string' || method === 'then') return undefined
      return (...args: unknown[]) => call(method, args)
    },
  })
  return { remote, end: () => void thread.terminate() }
}

/** Handles the calls of the thread that has started this thread. */
export function serveThread<Methods extends Record<keyof Methods, unknown>>(served: Methods): void {
  const methods = served as Record<string, (...args: unknown[]) => unknown>

  async function respond({ id, method, args }: Request): Promise<Response> {
    try {
      const value = await methods[method]!.call(served, ...args)
      return { id, value }
    } catch (error) {
      return { id, error }
    }
  }

  parentPort!.on('message', async (request: Request) => {
    parentPort!.postMessage(await respond(request))
  })
}
