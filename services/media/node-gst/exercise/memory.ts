import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Pipeline, Ring } from '../index.ts'

// A test of the native GStreamer addon for leaks, run as a script: prints by how many bytes and
// open files the process grows over 10,000 frames or packets, or 200 pipelines. The argument is the
// name of an exercise: samples, packets, ring or pipelines. Requires `--expose-gc`.

/** Width and height of the frames, in pixels. */
const SIDE = 64
/** Size of a memory page, as most machines have it. */
const PAGE_BYTES = 4096
/**
 * Number of garbage collections before a measurement. A single one may leave objects that were in
 * use when it began.
 */
const COLLECTIONS = 5

/** Returns the launch string of a source with this number of frames. */
const createSource = (count: number) =>
  `videotestsrc num-buffers=${count} ! video/x-raw,format=GRAY8,width=${SIDE},height=${SIDE}`
const SINK = 'appsink name=sink sync=false'

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
  await play(`${createSource(count)} ! ${SINK}`, pipeline => {
    pipeline.samples('sink', { queue: 4, full: 'block' }, sample => sample.release())
  })
}

/** Returns a function that writes frames to a ring, which is the same in all its calls. */
function createRingWriter() {
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

  return async (count: number) => {
    await play(`${createSource(count)} ! identity name=numbered ! ${SINK}`, pipeline => {
      pipeline.fillTimes('numbered', 'sink')
      pipeline.number('numbered', 'src', { start: nextNumber })
      pipeline.toRing('sink', ring, () => {})
    })
    nextNumber += count
  }
}

/** Sends every frame as an RTP packet. */
async function receivePackets(count: number) {
  const packets = 'videoconvert ! rtpvrawpay mtu=65000 ! rtpvrawdepay name=depay'
  await play(`${createSource(count)} ! ${packets} ! ${SINK}`, pipeline => {
    pipeline.samples('sink', { queue: 4, full: 'block' }, sample => {
      pipeline.newestRtpPacket('depay')
      sample.release()
    })
  })
}

async function createPipelines(count: number) {
  for (let index = 0; index < count; index++) {
    const pipeline = new Pipeline(`${createSource(3)} ! tee name=tee ! queue ! fakesink`, () => {})
    const branch = pipeline.add(`queue ! ${SINK}`, 'tee')
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
    await nextTurn()
  }
  // The second number is the resident memory, in pages: see proc_pid_statm(5).
  const residentPages = Number(readFileSync('/proc/self/statm', 'latin1').split(' ')[1])
  return { bytes: residentPages * PAGE_BYTES, files: readdirSync('/proc/self/fd').length }
}

interface Exercise {
  run(count: number): Promise<void>
  /** Number of repetitions before the first measurement. */
  warmUp: number
  /** Number of repetitions between the measurements. */
  measured: number
}

function createExercise(name: string | undefined): Exercise {
  switch (name) {
    case 'samples':
      return { run: receiveSamples, warmUp: 3_000, measured: 10_000 }
    case 'packets':
      return { run: receivePackets, warmUp: 3_000, measured: 10_000 }
    case 'ring':
      return { run: createRingWriter(), warmUp: 3_000, measured: 10_000 }
    case 'pipelines':
      return { run: createPipelines, warmUp: 100, measured: 200 }
    default:
      throw new Error(`there is no exercise ${name}: choose samples, packets, ring or pipelines`)
  }
}

const { run, warmUp, measured } = createExercise(process.argv[2])
await run(warmUp)
const before = await measureUsage()
await run(measured)
const after = await measureUsage()
console.log(
  JSON.stringify({ bytes: after.bytes - before.bytes, files: after.files - before.files }),
)
