import type { Pacing } from '@eyrie/contract'
import { FrameDroppedError } from '@eyrie/element'

export interface FrameQueueOptions<Worker> {
  /** `s` (latency): its frames come first, and queues of mode `a` leave one worker idle for them. `a`: throughput. */
  mode: 'a' | 's'
  /** `realtime`: a newer frame replaces a waiting one. `all`: every frame waits for its turn. */
  pacing: Pacing
  /** Priority of the pipeline, 0 to 9, read at every decision. Lower priorities wait while higher ones have frames. */
  priority(): number
  canRunOn(worker: Worker): boolean
  /** A waiting frame was replaced while queues of higher priority were served. */
  onYield?(): void
}

/** The frames of one detector that wait for a worker. */
export interface FrameQueue<Worker> {
  /** Runs frame `n` on a worker. Rejects with `FrameDroppedError` if a newer frame replaces it before it starts. */
  submit<T>(n: number, run: (worker: Worker) => Promise<T>): Promise<T>
  /** Rejects waiting frames and all later ones with `reason`. */
  close(reason: Error): void
}

/**
 * Assigns frames and jobs to workers. A worker runs one at a time. A busy worker may be assigned the next frame of a queue
 * with pacing `all` in advance, so that it doesn't idle until the main thread reacts.
 */
export interface Scheduler<Worker> {
  addWorker(worker: Worker): void
  /** Assigns nothing more to the worker and rejects the jobs that wait for it. */
  removeWorker(worker: Worker, reason: Error): void
  openQueue(options: FrameQueueOptions<Worker>): FrameQueue<Worker>
  /** Runs a job on this particular worker as soon as it is idle, before any frame. */
  runOn<T>(worker: Worker, job: (worker: Worker) => Promise<T>): Promise<T>
}

interface Task<Worker> {
  n: number
  run(worker: Worker): Promise<void>
  reject(error: Error): void
}

interface WorkerState<Worker> {
  /** Jobs that wait for this worker. */
  jobs: Task<Worker>[]
  /** Number of assigned tasks that have not finished. */
  assigned: number
}

interface QueueState<Worker> extends FrameQueueOptions<Worker> {
  waiting: Task<Worker>[]
  /** A queue of higher priority was served while the oldest frame of this one waited. */
  hasYielded: boolean
}

/**
 * Serves the highest priority first; a running frame is not interrupted. Queues of equal priority take turns: a queue that
 * was served moves to the end, so that a channel with many frames cannot starve one with few.
 */
export function createScheduler<Worker>(): Scheduler<Worker> {
  const workers = new Map<Worker, WorkerState<Worker>>()
  /** The queue that was served longest ago comes first. */
  const queues: QueueState<Worker>[] = []

  const run = async (worker: Worker, state: WorkerState<Worker>, task: Task<Worker>) => {
    state.assigned++
    await task.run(worker)
    state.assigned--
    dispatch()
  }

  /** Idle workers come first; then busy ones are assigned frames in advance. */
  const dispatch = () => {
    for (const [worker, state] of workers) {
      const task = nextForIdle(worker, state)
      if (task) run(worker, state, task)
    }
    for (const [worker, state] of workers) {
      const task = nextForBusy(worker, state)
      if (task) run(worker, state, task)
    }
  }

  const nextForIdle = (worker: Worker, state: WorkerState<Worker>): Task<Worker> | undefined => {
    if (state.assigned > 0) return undefined
    return (
      state.jobs.shift() ??
      shiftTask(findQueue(worker, queue => queue.mode === 's' || !mustLeaveWorker(queue)))
    )
  }

  const nextForBusy = (worker: Worker, state: WorkerState<Worker>): Task<Worker> | undefined => {
    if (state.assigned !== 1 || state.jobs.length > 0 || hasLatencyQueue()) return undefined
    const queue = findQueue(worker, () => true)
    return queue?.pacing === 'all' && !hasHigherPriority(queue) ? shiftTask(queue) : undefined
  }

  /** The queue to serve next on this worker: by priority, then mode `s` before `a`, then in turn. */
  const findQueue = (worker: Worker, isAllowed: (queue: QueueState<Worker>) => boolean) => {
    let best: QueueState<Worker> | undefined
    for (const queue of queues) {
      if (queue.waiting.length === 0 || !queue.canRunOn(worker) || !isAllowed(queue)) continue
      if (!best || precedes(queue, best)) best = queue
    }
    return best
  }

  const shiftTask = (queue: QueueState<Worker> | undefined): Task<Worker> | undefined => {
    if (!queue) return undefined
    queues.push(...queues.splice(queues.indexOf(queue), 1))
    for (const other of queues)
      if (other.waiting.length > 0 && other.priority() < queue.priority()) other.hasYielded = true
    queue.hasYielded = false
    return queue.waiting.shift()
  }

  const hasLatencyQueue = () => queues.some(({ mode }) => mode === 's')

  const hasHigherPriority = (queue: QueueState<Worker>) =>
    queues.some(({ priority }) => priority() > queue.priority())

  /** Of several workers, the last idle one is reserved for queues of mode `s`, unless `queue` has a higher priority. */
  const mustLeaveWorker = (queue: QueueState<Worker>) => {
    const idle = [...workers.values()].filter(({ assigned }) => assigned === 0)
    if (idle.length !== 1 || workers.size === 1) return false
    return queues.some(({ mode, priority }) => mode === 's' && priority() >= queue.priority())
  }

  const dropWaiting = (queue: QueueState<Worker>) => {
    for (const dropped of queue.waiting.splice(0)) {
      if (queue.hasYielded) queue.onYield?.()
      dropped.reject(new FrameDroppedError(dropped.n))
    }
    queue.hasYielded = false
  }

  return {
    addWorker: worker => {
      workers.set(worker, { jobs: [], assigned: 0 })
      dispatch()
    },

    removeWorker: (worker, reason) => {
      for (const { reject } of workers.get(worker)?.jobs ?? []) reject(reason)
      workers.delete(worker)
    },

    openQueue: options => {
      const queue: QueueState<Worker> = { ...options, waiting: [], hasYielded: false }
      let closeReason: Error | undefined
      queues.push(queue)
      return {
        submit: (n, run) => {
          if (closeReason) return Promise.reject(closeReason)
          if (options.pacing === 'realtime') {
            if (queue.waiting.some(task => task.n > n)) return Promise.reject(new FrameDroppedError(n))
            dropWaiting(queue)
          }
          const { task, done } = createTask(n, run)
          queue.waiting.push(task)
          dispatch()
          return done
        },
        close: reason => {
          if (closeReason) return
          closeReason = reason
          queues.splice(queues.indexOf(queue), 1)
          for (const { reject } of queue.waiting.splice(0)) reject(reason)
          dispatch()
        },
      }
    },

    runOn: (worker, job) => {
      const { task, done } = createTask(0, job)
      const state = workers.get(worker)
      if (state) state.jobs.push(task)
      else task.reject(new Error('the inference worker has exited'))
      dispatch()
      return done
    },
  }
}

function precedes<Worker>(queue: QueueState<Worker>, other: QueueState<Worker>): boolean {
  const difference = queue.priority() - other.priority()
  return difference > 0 || (difference === 0 && queue.mode === 's' && other.mode === 'a')
}

function createTask<Worker, T>(
  n: number,
  run: (worker: Worker) => Promise<T>,
): { task: Task<Worker>; done: Promise<T> } {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  return { task: { n, reject, run: worker => run(worker).then(resolve, reject) }, done: promise }
}
