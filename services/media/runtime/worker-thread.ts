import { parentPort, Worker } from 'node:worker_threads'

/** What a thread offers, as it is asked from another: everything takes its time. */
export type Remote<Offered> = {
  [Name in keyof Offered]: Offered[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never
}

interface Question {
  id: number
  method: string
  args: unknown[]
}

interface Answer {
  id: number
  value?: unknown
  error?: unknown
}

/** Starts a thread that ends in `answerFromThread`. What is asked is rejected once it has ended. */
export function startThread<Offered>(
  url: URL,
  workerData: unknown,
): { remote: Remote<Offered>; end(): void } {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  const thread = new Worker(url, { workerData })
  let asked = 0
  let death: Error | undefined

  thread.on('message', ({ id, value, error }: Answer) => {
    const question = waiting.get(id)
    waiting.delete(id)
    if (error !== undefined) question?.reject(error)
    else question?.resolve(value)
  })
  thread.on('error', error => {
    death = error as Error
  })
  thread.on('exit', () => {
    death ??= new Error('the thread has ended')
    for (const { reject } of waiting.values()) reject(death)
    waiting.clear()
  })

  const ask = (method: string, args: unknown[]) => {
    if (death) return Promise.reject(death)
    const question = Promise.withResolvers<unknown>()
    const id = ++asked
    waiting.set(id, question)
    thread.postMessage({ id, method, args } satisfies Question)
    return question.promise
  }
  const remote = new Proxy({} as Remote<Offered> & object, {
    // Who awaits it must not take it for a promise.
    get: (_, method) =>
      typeof method === 'string' && method !== 'then' ? (...args: unknown[]) => ask(method, args) : undefined,
  })
  return { remote, end: () => void thread.terminate() }
}

/** Lets whoever has started this thread ask these functions. */
export function serveThread<Offered extends Record<keyof Offered, unknown>>(offered: Offered): void {
  const methods = offered as Record<string, (...args: unknown[]) => unknown>
  parentPort!.on('message', async ({ id, method, args }: Question) => {
    const answer = await Promise.resolve()
      .then(() => methods[method]!.call(offered, ...args))
      .then(
        (value): Answer => ({ id, value }),
        (error): Answer => ({ id, error }),
      )
    parentPort!.postMessage(answer)
  })
}
