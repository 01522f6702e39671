import type { Pacing } from '@eyrie/contract'
import { FrameGone } from '@eyrie/element'

export interface LaneOptions<Worker> {
  /** `s`: its frames come first, and frames of `a` lanes leave one worker free for them. */
  mode: 'a' | 's'
  /** `realtime`: a newer frame takes the place of one that still waits. `all`: every frame waits for its turn. */
  pacing: Pacing
  isReady(worker: Worker): boolean
}

/** The way of one detector's frames to the workers. */
export interface Lane<Worker> {
  /** Runs the frame on a worker. Rejects with `FrameGone` if a newer one overtakes it before it has begun. */
  submit<T>(n: number, run: (worker: Worker) => Promise<T>): Promise<T>
  /** Rejects what waits and all that is submitted later. */
  close(reason: Error): void
}

/** Gives frames and errands to workers, one at a time each. */
export interface Scheduler<Worker> {
  add(worker: Worker): void
  /** The worker is given nothing more; errands that wait for it are rejected. */
  remove(worker: Worker, reason: Error): void
  open(options: LaneOptions<Worker>): Lane<Worker>
  /** Runs something on this very worker as soon as it is free, before any frame. */
  errand<T>(worker: Worker, run: (worker: Worker) => Promise<T>): Promise<T>
}

interface Task<Worker> {
  n: number
  run(worker: Worker): Promise<void>
  reject(error: Error): void
}

interface Waiting<Worker> extends LaneOptions<Worker> {
  tasks: Task<Worker>[]
}

/**
 * Lanes take turns: a lane that was served goes to the end of the row, so that a channel with many frames cannot
 * starve one with few.
 */
export function createScheduler<Worker>(): Scheduler<Worker> {
  const errands = new Map<Worker, Task<Worker>[]>()
  const idle = new Set<Worker>()
  const row: Waiting<Worker>[] = []

  const give = async (worker: Worker, task: Task<Worker>) => {
    idle.delete(worker)
    await task.run(worker)
    if (errands.has(worker)) idle.add(worker)
    dispatch()
  }

  const dispatch = () => {
    for (const worker of [...idle]) {
      const task = errands.get(worker)?.shift() ?? nextFrame(worker)
      if (task) give(worker, task)
    }
  }

  const nextFrame = (worker: Worker): Task<Worker> | undefined => {
    const lane = nextLane('s', worker) ?? (isReserved() ? undefined : nextLane('a', worker))
    if (!lane) return undefined
    row.push(...row.splice(row.indexOf(lane), 1))
    return lane.tasks.shift()
  }

  const nextLane = (mode: 'a' | 's', worker: Worker) =>
    row.find(lane => lane.mode === mode && lane.tasks.length > 0 && lane.isReady(worker))

  /** Whether the last idle worker, of several, is kept for a lane of mode `s`. */
  const isReserved = () => idle.size === 1 && errands.size > 1 && row.some(({ mode }) => mode === 's')

  return {
    add: worker => {
      errands.set(worker, [])
      idle.add(worker)
      dispatch()
    },

    remove: (worker, reason) => {
      for (const { reject } of errands.get(worker) ?? []) reject(reason)
      errands.delete(worker)
      idle.delete(worker)
    },

    open: options => {
      const lane: Waiting<Worker> = { ...options, tasks: [] }
      let closed: Error | undefined
      row.push(lane)
      return {
        submit: (n, run) => {
          if (closed) return Promise.reject(closed)
          if (options.pacing === 'realtime') {
            if (lane.tasks.some(task => task.n > n)) return Promise.reject(new FrameGone(n))
            for (const overtaken of lane.tasks.splice(0)) overtaken.reject(new FrameGone(overtaken.n))
          }
          const { task, done } = createTask(n, run)
          lane.tasks.push(task)
          dispatch()
          return done
        },
        close: reason => {
          if (closed) return
          closed = reason
          row.splice(row.indexOf(lane), 1)
          for (const { reject } of lane.tasks.splice(0)) reject(reason)
          dispatch()
        },
      }
    },

    errand: (worker, run) => {
      const { task, done } = createTask(0, run)
      const queue = errands.get(worker)
      if (queue) queue.push(task)
      else task.reject(new Error('the inference worker is gone'))
      dispatch()
      return done
    },
  }
}

function createTask<Worker, T>(
  n: number,
  run: (worker: Worker) => Promise<T>,
): { task: Task<Worker>; done: Promise<T> } {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  return { task: { n, reject, run: worker => run(worker).then(resolve, reject) }, done: promise }
}
