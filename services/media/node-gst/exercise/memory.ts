import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { Pipeline, Ring } from '../index.ts'

// Prints the growth of the process in bytes and open files over 10,000 frames or 200 pipelines. Requires `--expose-gc`.

const SIDE = 64
const frames = (count: number) =>
  `videotestsrc num-buffers=${count} ! video/x-raw,format=GRAY8,width=${SIDE},height=${SIDE} ! identity name=numbered`

const folder = mkdtempSync(join(tmpdir(), 'eyrie-exercise-'))
process.on('exit', () => rmSync(folder, { recursive: true }))
const ring = new Ring({
  path: join(folder, 'view.ring'),
  slots: 2,
  width: SIDE,
  height: SIDE,
  format: 'GRAY8',
  content: { x: 0, y: 0, width: SIDE, height: SIDE },
  fill: [0],
  generation: 1,
  epoch: 1,
  sourceWidth: SIDE,
  sourceHeight: SIDE,
})
let nextNumber = 1

async function play(launch: string, attach: (pipeline: Pipeline) => void) {
  const ended = Promise.withResolvers<void>()
  const pipeline = new Pipeline(launch, message => message.type === 'eos' && ended.resolve())
  attach(pipeline)
  await pipeline.setState('playing')
  await ended.promise
  await pipeline.dispose()
}

const toSamples = (count: number) =>
  play(`${frames(count)} ! appsink name=sink sync=false`, pipeline => {
    pipeline.samples('sink', { queue: 4, full: 'block' }, sample => sample.release())
  })

async function toRing(count: number) {
  await play(`${frames(count)} ! appsink name=sink sync=false`, pipeline => {
    pipeline.number('numbered', 'src', { start: nextNumber })
    pipeline.toRing('sink', ring, () => {})
  })
  nextNumber += count
}

async function pipelines(count: number) {
  for (let i = 0; i < count; i++) {
    const pipeline = new Pipeline(`${frames(3)} ! tee name=tee ! queue ! fakesink`, () => {})
    const branch = pipeline.add('queue ! appsink name=sink sync=false', 'tee')
    pipeline.samples('sink', { queue: 1, full: 'drop-oldest' }, sample => sample.release())
    await branch.start()
    await pipeline.setState('playing')
    if (i % 2) await branch.remove()
    await pipeline.dispose()
  }
}

async function held() {
  for (let i = 0; i < 5; i++) {
    globalThis.gc!()
    await turn()
  }
  const pages = Number(readFileSync('/proc/self/statm', 'latin1').split(' ')[1])
  return { bytes: pages * 4096, files: readdirSync('/proc/self/fd').length }
}

const exercises = {
  samples: { run: toSamples, warmUp: 3000, times: 10_000 },
  ring: { run: toRing, warmUp: 3000, times: 10_000 },
  pipelines: { run: pipelines, warmUp: 100, times: 200 },
}
const { run, warmUp, times } = exercises[process.argv[2] as keyof typeof exercises]

await run(warmUp)
const before = await held()
await run(times)
const after = await held()
console.log(JSON.stringify({ bytes: after.bytes - before.bytes, files: after.files - before.files }))
