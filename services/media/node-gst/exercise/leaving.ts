import { once } from 'node:events'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { Pipeline } from '../index.ts'

// Exits a process or a worker thread while a pipeline plays. A crash or a hang is a failure. The argument of the program is the
// name of a scenario.

const WORKER_ROUNDS = 5
const FRAMES_BEFORE_EXIT = 3

/** Plays a pipeline. Resolves once some frames have arrived. */
function play(): Promise<Pipeline> {
  const playing = Promise.withResolvers<Pipeline>()
  let received = 0
  const pipeline = new Pipeline('videotestsrc is-live=true ! tee name=tee ! appsink name=sink', () => {})
  pipeline.samples('sink', { queue: 4, full: 'block' }, sample => {
    sample.release()
    received++
    if (received === FRAMES_BEFORE_EXIT) playing.resolve(pipeline)
  })

  pipeline.setState('playing')
  return playing.promise
}

const scenarios: Record<string, () => unknown> = {
  /** A stopped pipeline does not keep the process alive. */
  down: async () => (await play()).setState('null'),

  disposed: async () => (await play()).dispose(),

  /** Exits the process, or the worker thread, while the pipeline plays. */
  exit: async () => {
    await play()
    process.exit(0)
  },

  'worker-terminated': async () => {
    for (let round = 0; round < WORKER_ROUNDS; round++) {
      const worker = new Worker(import.meta.filename, { argv: ['report'] })
      await once(worker, 'message')
      await worker.terminate()
    }
  },

  'worker-exits': async () => {
    for (let round = 0; round < WORKER_ROUNDS; round++) {
      const worker = new Worker(import.meta.filename, { argv: ['exit'] })
      await once(worker, 'exit')
    }
  },

  /** Runs in a worker thread, and notifies the main thread that the pipeline plays. */
  report: async () => {
    await play()
    parentPort!.postMessage('playing')
  },
}

const scenario = process.argv[2]!
process.on('exit', () => {
  if (isMainThread) console.log('left')
})
await scenarios[scenario]!()
