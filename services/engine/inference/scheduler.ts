import type { Pacing } from '@eyrie/contract'
import { FrameDroppedError } from '@eyrie/element'

export interface LaneOptions<Worker> {
  /** `s`: its frames come first, and frames of `a` lanes leave one worker free for them. */
  mode: 'a' | 's'
  /** `realtime`: a newer frame takes the place of one that still waits. `all`: every frame waits for its turn. */
  pacing: Pacing
  /** Of the pipeline, 0 to 9, asked at each choice: as long as frames of a higher one wait, those of a lower one do. */
  priority(): number
  isReady(worker: Worker): boolean
  /** A frame was overtaken while lanes of higher priority went first. */
  onYield?(): void
}

/** The way of one detector's frames to the workers. */
export interface Lane<Worker> {
  /** Runs the frame on a worker. Rejects with `FrameDroppedError` if a newer one overtakes it before it has begun. */
  submit<T>(n: number, run: (worker: Worker) => Promise<T>): Promise<T>
  /** Rejects what waits and all that is submitted later. */
  close(reason: Error): void
}

/**
 * Gives frames and errands to workers. A worker does one thing at a time; the next frame of a lane in which none may be
 * overtaken is given to it while it is still busy, so that it need not wait for the main thread in between.
 */
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

/** What lies before a worker. */
interface Desk<Worker> {
  errands: Task<Worker>[]
  /** Frames and errands that it has been given and not finished. */
  given: number
}

interface Waiting<Worker> extends LaneOptions<Worker> {
  tasks: Task<Worker>[]
  /** A lane of higher priority was served while the oldest of `tasks` waited. */
  yielded: boolean
}

/**
 * The highest priority is served first; a frame that has begun is not interrupted. Lanes of one priority take turns: a
 * lane that was served goes to the end of the row, so that a channel with many frames cannot starve one with few.
 */
export function createScheduler<Worker>(): Scheduler<Worker> {
  const desks = new Map<Worker, Desk<Worker>>()
  const row: Waiting<Worker>[] = []

  const give = async (worker: Worker, desk: Desk<Worker>, task: Task<Worker>) => {
    desk.given++
    await task.run(worker)
    desk.given--
    dispatch()
  }

  const dispatch = () => {
    for (const next of [nextForIdle, nextForBusy])
      for (const [worker, desk] of desks) {
        const task = next(worker, desk)
        if (task) give(worker, desk, task)
      }
  }

  const nextForIdle = (worker: Worker, { given, errands }: Desk<Worker>): Task<Worker> | undefined => {
    if (given > 0) return undefined
    return errands.shift() ?? take(nextLane(worker, lane => lane.mode === 's' || !isReservedFrom(lane)))
  }

  const nextForBusy = (worker: Worker, { given, errands }: Desk<Worker>): Task<Worker> | undefined => {
    if (given !== 1 || errands.length > 0 || isLatencyWanted()) return undefined
    const lane = nextLane(worker, () => true)
    return lane?.pacing === 'all' && !isAnyAbove(lane) ? take(lane) : undefined
  }

  /** Of those that have a frame for the worker: by priority, then mode `s` before `a`, then in turn. */
  const nextLane = (worker: Worker, mayHave: (lane: Waiting<Worker>) => boolean) => {
    let best: Waiting<Worker> | undefined
    for (const lane of row) {
      if (lane.tasks.length === 0 || !lane.isReady(worker) || !mayHave(lane)) continue
      if (!best || goesBefore(lane, best)) best = lane
    }
    return best
  }

  const take = (lane: Waiting<Worker> | undefined): Task<Worker> | undefined => {
    if (!lane) return undefined
    row.push(...row.splice(row.indexOf(lane), 1))
    for (const other of row)
      if (other.tasks.length > 0 && other.priority() < lane.priority()) other.yielded = true
    const task = lane.tasks.shift()
    lane.yielded = false
    return task
  }

  const isLatencyWanted = () => row.some(({ mode }) => mode === 's')

  const isAnyAbove = (lane: Waiting<Worker>) => row.some(({ priority }) => priority() > lane.priority())

  /** Whether the last idle worker, of several, is kept for a lane of mode `s`; what is more important need not wait. */
  const isReservedFrom = (lane: Waiting<Worker>) => {
    const idle = [...desks.values()].filter(({ given }) => given === 0)
    if (idle.length !== 1 || desks.size === 1) return false
    return row.some(({ mode, priority }) => mode === 's' && priority() >= lane.priority())
  }

  return {
    add: worker => {
      desks.set(worker, { errands: [], given: 0 })
      dispatch()
    },

    remove: (worker, reason) => {
      for (const { reject } of desks.get(worker)?.errands ?? []) reject(reason)
      desks.delete(worker)
    },

    open: options => {
      const lane: Waiting<Worker> = { ...options, tasks: [], yielded: false }
      let closed: Error | undefined
      row.push(lane)
      return {
        submit: (n, run) => {
          if (closed) return Promise.reject(closed)
          if (options.pacing === 'realtime') {
            if (lane.tasks.some(task => task.n > n)) return Promise.reject(new FrameDroppedError(n))
            for (const overtaken of lane.tasks.splice(0)) {
              if (lane.yielded) options.onYield?.()
              overtaken.reject(new FrameDroppedError(overtaken.n))
            }
            lane.yielded = false
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
      const desk = desks.get(worker)
      if (desk) desk.errands.push(task)
      else task.reject(new Error('the inference worker is gone'))
      dispatch()
      return done
    },
  }
}

function goesBefore<Worker>(lane: Waiting<Worker>, other: Waiting<Worker>): boolean {
  const above = lane.priority() - other.priority()
  return above > 0 || (above === 0 && lane.mode === 's' && other.mode === 'a')
}

function createTask<Worker, T>(
  n: number,
  run: (worker: Worker) => Promise<T>,
): { task: Task<Worker>; done: Promise<T> } {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  return { task: { n, reject, run: worker => run(worker).then(resolve, reject) }, done: promise }
}
