import type { Pacing } from '@eyrie/contract'
import { FrameDroppedError } from '@eyrie/element'

/** How the frames of one detector are queued for the inference workers. */
export interface FrameQueueOptions<Worker> {
  /**
   * `s` minimizes latency: its frames come first, and one worker is reserved for them. `a`
   * maximizes throughput.
   */
  mode: 'a' | 's'
  /** `realtime`: a newer frame replaces a waiting frame. `all`: every frame is processed. */
  pacing: Pacing
  /** Current priority of the pipeline, 0 to 9. Queues of higher priority are served first. */
  priority(): number
  canRunOn(worker: Worker): boolean
  /** Called when a frame was dropped because queues of higher priority were served instead. */
  onYield?(): void
}

/** The waiting frames of one detector. */
export interface FrameQueue<Worker> {
  /**
   * Runs frame `n` on a worker. Rejects with `FrameDroppedError` if a newer frame replaces
   * it before it starts.
   */
  submit<T>(n: number, run: (worker: Worker) => Promise<T>): Promise<T>
  /** Rejects all waiting and later frames with `reason`. */
  close(reason: Error): void
}

/** A frame, or a job for a particular worker. */
interface Task<Worker> {
  /** Number of the frame; 0 for jobs. */
  n: number
  run(worker: Worker): Promise<void>
  reject(error: Error): void
}

interface WorkerState<Worker> {
  /** Jobs that wait for this worker. */
  jobs: Task<Worker>[]
  /** Number of assigned tasks that have not finished. */
  assigned: number
  /**
   * Called when the assigned tasks have finished, after which it gets no others;
   * undefined if it gets others.
   */
  onIdle?: () => void
}

interface QueueState<Worker> extends FrameQueueOptions<Worker> {
  waiting: Task<Worker>[]
  /** Whether a queue of higher priority was served while a frame of this queue waited. */
  hasYielded: boolean
  /** Defined when the queue is closed. */
  closeReason: Error | undefined
}

/**
 * Assigns the frames of all detectors to the inference workers, which run one task at a time.
 * The highest priority is served first, but a running frame is never interrupted. Queues of
 * equal priority take turns, so that a channel with a high frame rate cannot block a channel
 * with a low frame rate.
 *
 * In addition, a busy worker may be assigned one frame in advance from a queue with pacing `all`,
 * so that it never waits for the main thread.
 */
export class Scheduler<Worker> {
  readonly #workers = new Map<Worker, WorkerState<Worker>>()
  /** Ordered by the time when they were last served, oldest first. */
  readonly #queues: QueueState<Worker>[] = []

  addWorker(worker: Worker): void {
    this.#workers.set(worker, { jobs: [], assigned: 0 })
    this.#dispatch()
  }

  /** Removes a worker that has exited and rejects the jobs that wait for it. */
  removeWorker(worker: Worker, reason: Error): void {
    const waitingJobs = this.#workers.get(worker)?.jobs ?? []
    for (const job of waitingJobs) job.reject(reason)
    this.#workers.delete(worker)
  }

  /** Assigns no further tasks to a worker, and resolves when it has finished its present tasks. */
  async retireWorker(worker: Worker): Promise<void> {
    const state = this.#workers.get(worker)
    if (!state) return
    if (state.assigned > 0) {
      await new Promise<void>(resolve => Object.assign(state, { onIdle: resolve }))
    }
    this.removeWorker(worker, new Error('the inference worker is stopped'))
  }

  openQueue(options: FrameQueueOptions<Worker>): FrameQueue<Worker> {
    const queue: QueueState<Worker> = {
      ...options,
      waiting: [],
      hasYielded: false,
      closeReason: undefined,
    }
    this.#queues.push(queue)
    return {
      submit: (n, run) => this.#submit(queue, n, run),
      close: reason => this.#close(queue, reason),
    }
  }

  /** Runs a job on a particular worker as soon as the worker is idle, before any frame. */
  runOn<T>(worker: Worker, job: (worker: Worker) => Promise<T>): Promise<T> {
    const { task, done } = createTask(0, job)
    const state = this.#workers.get(worker)
    if (state) state.jobs.push(task)
    else task.reject(new Error('the inference worker has exited'))
    this.#dispatch()
    return done
  }

  #submit<T>(
    queue: QueueState<Worker>,
    n: number,
    run: (worker: Worker) => Promise<T>,
  ): Promise<T> {
    if (queue.closeReason) return Promise.reject(queue.closeReason)

    if (queue.pacing === 'realtime') {
      const isNewerWaiting = queue.waiting.some(task => task.n > n)
      if (isNewerWaiting) return Promise.reject(new FrameDroppedError(n))
      dropWaiting(queue)
    }

    const { task, done } = createTask(n, run)
    queue.waiting.push(task)
    this.#dispatch()
    return done
  }

  #close(queue: QueueState<Worker>, reason: Error): void {
    if (queue.closeReason) return
    queue.closeReason = reason
    this.#queues.splice(this.#queues.indexOf(queue), 1)
    for (const task of queue.waiting.splice(0)) task.reject(reason)
    this.#dispatch()
  }

  /** Assigns as many tasks as possible: first to idle workers, then in advance to busy workers. */
  #dispatch(): void {
    for (const [worker, state] of this.#workers) {
      const task = this.#nextForIdleWorker(worker, state)
      if (task) void this.#run(worker, state, task)
    }
    for (const [worker, state] of this.#workers) {
      const task = this.#nextForBusyWorker(worker, state)
      if (task) void this.#run(worker, state, task)
    }
  }

  async #run(worker: Worker, state: WorkerState<Worker>, task: Task<Worker>): Promise<void> {
    state.assigned++
    await task.run(worker)
    state.assigned--
    if (state.assigned === 0) state.onIdle?.()
    this.#dispatch()
  }

  #nextForIdleWorker(worker: Worker, state: WorkerState<Worker>): Task<Worker> | undefined {
    if (state.assigned > 0 || state.onIdle) return undefined
    const job = state.jobs.shift()
    if (job) return job

    const isAllowed = (queue: QueueState<Worker>) =>
      queue.mode === 's' || !this.#mustReserveWorker(queue)
    const queue = this.#findQueue(worker, isAllowed)
    return queue && this.#shiftTask(queue)
  }

  #nextForBusyWorker(worker: Worker, state: WorkerState<Worker>): Task<Worker> | undefined {
    const canAcceptAnother = state.assigned === 1 && state.jobs.length === 0 && !state.onIdle
    if (!canAcceptAnother || this.#hasLatencyQueue()) return undefined

    const queue = this.#findQueue(worker, () => true)
    if (queue?.pacing !== 'all' || this.#hasHigherPriority(queue)) return undefined
    return this.#shiftTask(queue)
  }

  /**
   * Returns the queue to serve next on a worker: by priority, then by mode (`s`
   * before `a`), then in turn.
   */
  #findQueue(
    worker: Worker,
    isAllowed: (queue: QueueState<Worker>) => boolean,
  ): QueueState<Worker> | undefined {
    let best: QueueState<Worker> | undefined
    for (const queue of this.#queues) {
      if (queue.waiting.length === 0 || !queue.canRunOn(worker) || !isAllowed(queue)) continue
      if (!best || precedes(queue, best)) best = queue
    }
    return best
  }

  /**
   * Removes the next frame from a queue. The queue moves behind the other queues of its priority.
   */
  #shiftTask(queue: QueueState<Worker>): Task<Worker> | undefined {
    this.#queues.splice(this.#queues.indexOf(queue), 1)
    this.#queues.push(queue)

    for (const other of this.#queues) {
      if (other.waiting.length > 0 && other.priority() < queue.priority()) other.hasYielded = true
    }
    queue.hasYielded = false
    return queue.waiting.shift()
  }

  #hasLatencyQueue(): boolean {
    return this.#queues.some(({ mode }) => mode === 's')
  }

  #hasHigherPriority(queue: QueueState<Worker>): boolean {
    return this.#queues.some(({ priority }) => priority() > queue.priority())
  }

  /**
   * Whether the last idle worker is reserved for a queue of mode `s`. Queues of higher
   * priority may still use it.
   */
  #mustReserveWorker(queue: QueueState<Worker>): boolean {
    const idleWorkers = [...this.#workers.values()].filter(({ assigned }) => assigned === 0)
    if (idleWorkers.length !== 1 || this.#workers.size === 1) return false
    return this.#queues.some(({ mode, priority }) => mode === 's' && priority() >= queue.priority())
  }
}

function dropWaiting<Worker>(queue: QueueState<Worker>): void {
  for (const task of queue.waiting.splice(0)) {
    if (queue.hasYielded) queue.onYield?.()
    task.reject(new FrameDroppedError(task.n))
  }
  queue.hasYielded = false
}

/** Whether `queue` is served before `other`. Of two equal queues, neither precedes the other. */
function precedes<Worker>(queue: QueueState<Worker>, other: QueueState<Worker>): boolean {
  const difference = queue.priority() - other.priority()
  if (difference !== 0) return difference > 0
  return queue.mode === 's' && other.mode === 'a'
}

/** Wraps `run` in a task that never rejects. `done` has the outcome of `run`. */
function createTask<Worker, T>(
  n: number,
  run: (worker: Worker) => Promise<T>,
): { task: Task<Worker>; done: Promise<T> } {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const task: Task<Worker> = {
    n,
    reject,
    run: worker => run(worker).then(resolve, reject),
  }
  return { task, done: promise }
}
