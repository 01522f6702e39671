import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { Pipeline, Ring } from '../index.ts'

// A test of the native GStreamer addon for leaks, run as a script: prints by how many bytes and
// open files the process grows over 10,000 frames or packets, or 200 pipelines. The argument is the
// name of an exercise. Requires `--expose-gc`.

/** Width and height of the frames, in pixels. */
const SIDE = 64
const PAGE_BYTES = 4096
/** One garbage collection may leave objects that were in use when it began. */
const COLLECTIONS = 5

/** Returns the launch string of a source with this number of frames. */
const createSource = (count: number) =>
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
/** Number of the next frame in the ring. */
let nextNumber = 1

/** Plays a pipeline until its end. */
async function play(launch: string, attach: (pipeline: Pipeline) => void) {
  const ended = Promise.withResolvers<void>()
  const pipeline = new Pipeline(launch, message => {
    if (message.type === 'eos') ended.resolve()
  })
  attach(pipeline)

  await pipeline.setState('playing')
  await ended.promise
  await pipeline.dispose()
}

async function receiveSamples(count: number) {
  await play(`${createSource(count)} ! appsink name=sink sync=false`, pipeline => {
    pipeline.samples('sink', { queue: 4, full: 'block' }, sample => sample.release())
  })
}

async function writeRing(count: number) {
  await play(`${createSource(count)} ! appsink name=sink sync=false`, pipeline => {
    pipeline.number('numbered', 'src', { start: nextNumber })
    pipeline.toRing('sink', ring, () => {})
  })
  nextNumber += count
}

/** Sends every frame as an RTP packet. */
async function receivePackets(count: number) {
  const packets = `${createSource(count)} ! videoconvert ! rtpvrawpay mtu=65000 ! rtpvrawdepay name=depay`
  await play(`${packets} ! appsink name=sink sync=false`, pipeline => {
    pipeline.samples('sink', { queue: 4, full: 'block' }, sample => {
      pipeline.newestRtpPacket('depay')
      sample.release()
    })
  })
}

async function createPipelines(count: number) {
  for (let index = 0; index < count; index++) {
    const pipeline = new Pipeline(`${createSource(3)} ! tee name=tee ! queue ! fakesink`, () => {})
    const branch = pipeline.add('queue ! appsink name=sink sync=false', 'tee')
    pipeline.samples('sink', { queue: 1, full: 'drop-oldest' }, sample => sample.release())
    await branch.start()
    await pipeline.setState('playing')
    // Every second pipeline is disposed of with its branch.
    if (index % 2 === 1) await branch.remove()
    await pipeline.dispose()
  }
}

/** Returns the memory in use after garbage collection, and the number of open files. */
async function measureUsage() {
  for (let round = 0; round < COLLECTIONS; round++) {
    globalThis.gc!()
    await turn()
  }
  // The second number is the resident memory, in pages: see proc_pid_statm(5).
  const residentPages = Number(readFileSync('/proc/self/statm', 'latin1').split(' ')[1])
  return { bytes: residentPages * PAGE_BYTES, files: readdirSync('/proc/self/fd').length }
}

/** `warmUp` is the number of repetitions before the first measurement. */
const exercises = {
  samples: { run: receiveSamples, warmUp: 3000, times: 10_000 },
  packets: { run: receivePackets, warmUp: 3000, times: 10_000 },
  ring: { run: writeRing, warmUp: 3000, times: 10_000 },
  pipelines: { run: createPipelines, warmUp: 100, times: 200 },
}
const { run, warmUp, times } = exercises[process.argv[2] as keyof typeof exercises]

await run(warmUp)
const before = await measureUsage()
await run(times)
const after = await measureUsage()
console.log(
  JSON.stringify({ bytes: after.bytes - before.bytes, files: after.files - before.files }),
)
