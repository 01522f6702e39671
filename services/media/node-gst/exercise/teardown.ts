import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pipeline, Ring } from '../index.ts'

// Disposes of pipelines in every state, repeatedly. Fails by an error, a crash, or by not terminating.

const rounds = Number(process.argv[2] ?? 10)
const folder = mkdtempSync(join(tmpdir(), 'eyrie-exercise-'))
process.on('exit', () => rmSync(folder, { recursive: true }))

const raw = 'video/x-raw,format=GRAY8,width=64,height=48'
const launch = `videotestsrc ! ${raw} ! tee name=tee tee. ! queue ! appsink name=sink sync=false`

function makeRing() {
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

/** Actions on a pipeline before it is disposed of. */
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
    for (const state of ['playing', 'null', 'paused', 'ready', 'playing', 'null', 'playing'] as const) {
      pipeline.setState(state).catch(ignoreAbort)
    }
  },
  seeking: async pipeline => {
    await pipeline.setState('paused')
    pipeline.seek({ toNs: 1e9, flush: true })
  },
  'blocked by samples': async pipeline => {
    const held: unknown[] = []
    const full = Promise.withResolvers<void>()
    pipeline.samples('sink', { queue: 2, full: 'block' }, sample => held.push(sample) === 2 && full.resolve())
    await pipeline.setState('playing')
    await full.promise
  },
  'blocked by a ring': async pipeline => {
    const ring = makeRing()
    const written = Promise.withResolvers<void>()
    pipeline.number('tee', 'sink')
    pipeline.toRing('sink', ring, ({ n }) => n === 3 && written.resolve())
    ring.grant(3)
    await pipeline.setState('playing')
    await written.promise
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

for (const situation of Object.values(situations)) {
  for (let round = 0; round < rounds; round++) {
    const pipeline = new Pipeline(launch, () => {})
    await situation(pipeline)
    await pipeline.dispose()
  }
}
console.log('down')
