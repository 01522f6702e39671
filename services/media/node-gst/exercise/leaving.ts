import { once } from 'node:events'
import { isMainThread, Worker } from 'node:worker_threads'
import { Pipeline } from '../index.ts'

// Exits a process or a worker while a pipeline plays. Fails by a crash, or by not terminating.

const playing = Promise.withResolvers<Pipeline>()
let received = 0

function play() {
  const pipeline = new Pipeline('videotestsrc is-live=true ! tee name=tee ! appsink name=sink', () => {})
  pipeline.samples('sink', { queue: 4, full: 'block' }, sample => {
    sample.release()
    if (++received === 3) playing.resolve(pipeline)
  })
  pipeline.setState('playing')
  return playing.promise
}

const ways: Record<string, () => unknown> = {
  /** A stopped pipeline does not keep the process alive. */
  down: async () => (await play()).setState('null'),
  disposed: async () => (await play()).dispose(),
  exit: async () => {
    await play()
    process.exit(0)
  },
  'worker-terminated': async () => {
    for (let round = 0; round < 5; round++) {
      const worker = new Worker(import.meta.filename, { argv: ['report'] })
      await once(worker, 'message')
      await worker.terminate()
    }
  },
  'worker-exits': async () => {
    for (let round = 0; round < 5; round++) {
      await once(new Worker(import.meta.filename, { argv: ['exit'] }), 'exit')
    }
  },
  report: async () => {
    await play()
    const { parentPort } = await import('node:worker_threads')
    parentPort!.postMessage('playing')
  },
}

const way = process.argv[2]!
process.on('exit', () => isMainThread && console.log('left'))
await ways[way]!()
