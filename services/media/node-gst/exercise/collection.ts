import { setImmediate as turn } from 'node:timers/promises'
import { Pipeline } from '../index.ts'

// A test of the native GStreamer addon, run as a script: collects garbage while pipelines run. An
// error, a crash or a hang is a failure. Requires `--expose-gc`.

const LAUNCH =
  'videotestsrc is-live=true ! video/x-raw,width=64,height=48,framerate=200/1 ! appsink name=sink sync=false'
/** Enough samples to show that a pipeline continues to run. */
const MANY_SAMPLES = 50

/** Collects garbage in every turn of the event loop until the condition holds. */
async function collectUntil(condition: () => boolean) {
  while (!condition()) {
    globalThis.gc!()
    await turn()
  }
}

/** A running pipeline without references continues to run. */
async function runWithoutReferences() {
  let received = 0
  let dispose: (() => Promise<void>) | undefined

  function startPipeline() {
    const pipeline = new Pipeline(LAUNCH, () => {})
    pipeline.samples('sink', { queue: 4, full: 'block' }, sample => {
      received++
      sample.release()
      if (received === MANY_SAMPLES) dispose = () => pipeline.dispose()
    })
    pipeline.setState('playing')
  }

  startPipeline()
  await collectUntil(() => received >= MANY_SAMPLES)
  await dispose!()
}

/**
 * Samples that were never released are released by garbage collection. Otherwise the stream would
 * stop after two samples.
 */
async function collectSamples() {
  let received = 0
  const pipeline = new Pipeline(LAUNCH, () => {})
  pipeline.samples('sink', { queue: 2, full: 'block' }, () => {
    received++
  })
  await pipeline.setState('playing')
  await collectUntil(() => received > MANY_SAMPLES)
  await pipeline.dispose()
}

/**
 * The memory of a sample remains valid while its bytes are referenced, even if the
 * sample is collected.
 */
async function retainBytes() {
  let bytes: Uint8Array | undefined
  const pipeline = new Pipeline(LAUNCH, () => {})
  pipeline.samples('sink', { queue: 4, full: 'drop-newest' }, sample => {
    bytes ??= sample.data
  })
  await pipeline.setState('playing')
  await collectUntil(() => bytes !== undefined)
  await pipeline.dispose()

  const checksum = sum(bytes!)
  for (let round = 0; round < 20; round++) {
    globalThis.gc!()
    await turn()
  }
  if (sum(bytes!) !== checksum) throw new Error('the bytes have changed')
}

const sum = (bytes: Uint8Array) => bytes.reduce((total, byte) => total + byte)

/**
 * A pipeline that was never started, or was stopped, is collected although its
 * callback refers to it.
 */
async function collectPipelines() {
  let collected = 0
  const registry = new FinalizationRegistry(() => collected++)

  function createPipeline(): Pipeline {
    const pipeline: Pipeline = new Pipeline(LAUNCH, () => pipeline.position())
    pipeline.samples('sink', { queue: 4, full: 'block' }, sample => {
      pipeline.position()
      sample.release()
    })
    registry.register(pipeline, undefined)
    return pipeline
  }

  async function startAndStop() {
    const pipeline = createPipeline()
    await pipeline.setState('playing')
    await pipeline.setState('null')
  }

  await startAndStop()
  createPipeline()
  await collectUntil(() => collected === 2)
}

await runWithoutReferences()
await collectSamples()
await retainBytes()
await collectPipelines()

console.log('collected')
