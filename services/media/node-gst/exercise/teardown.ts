import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pipeline, Ring } from '../index.ts'

// A stress test of the native GStreamer addon, run as a script: brings pipelines into every state
// and disposes of them, several times over. It fails with an error, a crash or a hang. The number
// of rounds is the first argument.

const DEFAULT_ROUNDS = 10
const roundCount = Number(process.argv[2] ?? DEFAULT_ROUNDS)
const folder = mkdtempSync(join(tmpdir(), 'eyrie-exercise-'))
process.on('exit', () => rmSync(folder, { recursive: true }))

const videoCaps = 'video/x-raw,format=GRAY8,width=64,height=48'
const launch = `videotestsrc ! ${videoCaps} ! tee name=tee tee. ! queue ! appsink name=sink sync=false`

/**
 * Creates a ring (frames in a shared file) that blocks the pipeline until each frame is granted.
 */
function createRing() {
  return new Ring({
    path: join(folder, 'view.ring'),
    slots: 2,
    width: 64,
    height: 48,
    format: 'GRAY8',
    content: { x: 0, y: 0, width: 64, height: 48 },
    fill: [0],
    generation: 1,
    epoch: 1,
    sourceWidth: 64,
    sourceHeight: 48,
    pacing: 'all',
  })
}

const ignoreAbort = (error: Error) => {
  if (error.name !== 'AbortError') throw error
}

/**
 * The states in which a pipeline is disposed of, with the functions that bring a new
 * pipeline into each of them.
 */
const situations: Record<string, (pipeline: Pipeline) => unknown> = {
  new: () => {},
  ready: pipeline => pipeline.setState('ready'),
  paused: pipeline => pipeline.setState('paused'),
  playing: pipeline => pipeline.setState('playing'),
  stopped: async pipeline => {
    await pipeline.setState('playing')
    await pipeline.setState('null')
  },
  'changing to paused': pipeline => void pipeline.setState('paused').catch(ignoreAbort),
  'changing to playing': pipeline => void pipeline.setState('playing').catch(ignoreAbort),
  stopping: async pipeline => {
    await pipeline.setState('playing')
    pipeline.setState('null').catch(ignoreAbort)
  },
  'changing states rapidly': pipeline => {
    for (const state of [
      'playing',
      'null',
      'paused',
      'ready',
      'playing',
      'null',
      'playing',
    ] as const) {
      pipeline.setState(state).catch(ignoreAbort)
    }
  },
  seeking: async pipeline => {
    await pipeline.setState('paused')
    pipeline.seek({ toNs: 1e9, flush: true })
  },
  'blocked by samples': async pipeline => {
    const heldSamples: unknown[] = []
    const queueFilled = Promise.withResolvers<void>()

    // Samples that are not released occupy the queue.
    pipeline.samples('sink', { queue: 2, full: 'block' }, sample => {
      heldSamples.push(sample)
      if (heldSamples.length === 2) queueFilled.resolve()
    })
    await pipeline.setState('playing')
    await queueFilled.promise
  },
  'blocked by a ring': async pipeline => {
    const ring = createRing()
    const lastGrantedWritten = Promise.withResolvers<void>()

    // Frame 4 is not granted and blocks the pipeline.
    ring.grant(3)
    pipeline.number('tee', 'sink')
    pipeline.toRing('sink', ring, ({ n }) => {
      if (n === 3) lastGrantedWritten.resolve()
    })
    await pipeline.setState('playing')
    await lastGrantedWritten.promise
  },
  'blocked and pausing': async pipeline => {
    await situations['blocked by samples']!(pipeline)
    pipeline.setState('paused').catch(ignoreAbort)
  },
  'while adding a branch': async pipeline => {
    await pipeline.setState('playing')
    pipeline.add('queue ! fakesink', 'tee').start()
  },
  'while removing a branch': async pipeline => {
    const branch = pipeline.add('queue ! fakesink', 'tee')
    await branch.start()
    await pipeline.setState('playing')
    branch.remove()
  },
}

for (const enterSituation of Object.values(situations)) {
  for (let round = 0; round < roundCount; round++) {
    const pipeline = new Pipeline(launch, () => {})
    await enterSituation(pipeline)
    await pipeline.dispose()
  }
}
console.log('disposed')
