import { once } from 'node:events'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { Pipeline } from '../index.ts'

// A stress test of the native GStreamer addon, run as a script: leaves a process or a worker thread
// while a pipeline plays or after it has stopped. A crash or a hang is a failure. The argument is
// the name of a scenario.

const WORKER_ROUNDS = 5
const FRAMES_BEFORE_EXIT = 3

/** Plays a pipeline. Resolves once some frames have arrived. */
function play(): Promise<Pipeline> {
  const playing = Promise.withResolvers<Pipeline>()
  let received = 0
  const pipeline = new Pipeline(
    'videotestsrc is-live=true ! tee name=tee ! appsink name=sink',
    () => {},
  )
  pipeline.samples('sink', { queue: 4, full: 'block' }, sample => {
    sample.release()
    received++
    if (received === FRAMES_BEFORE_EXIT) playing.resolve(pipeline)
  })

  pipeline.setState('playing')
  return playing.promise
}

const scenarios: Record<string, () => Promise<void>> = {
  /** A stopped pipeline does not keep the process alive. */
  down: async () => {
    const pipeline = await play()
    await pipeline.setState('null')
  },

  /** A disposed pipeline does not keep the process alive. */
  disposed: async () => {
    const pipeline = await play()
    await pipeline.dispose()
  },

  /** Exits the process, or the worker thread, while the pipeline plays. */
  exit: async () => {
    await play()
    process.exit(0)
  },

  /** The main thread terminates a worker thread while its pipeline plays. */
  'worker-terminated': async () => {
    for (let round = 0; round < WORKER_ROUNDS; round++) {
      const worker = new Worker(import.meta.filename, { argv: ['report'] })
      await once(worker, 'message')
      await worker.terminate()
    }
  },

  /** A worker thread exits by itself while its pipeline plays. */
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

// Printed only if the process ends without a crash.
process.on('exit', () => {
  if (isMainThread) console.log('left')
})

const scenario = process.argv[2]!
await scenarios[scenario]!()
