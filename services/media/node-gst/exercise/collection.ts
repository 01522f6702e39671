import { setImmediate as turn } from 'node:timers/promises'
import { Pipeline } from '../index.ts'

// Collects garbage while pipelines run. Fails by an error, a crash, or by not terminating. Requires `--expose-gc`.

const live =
  'videotestsrc is-live=true ! video/x-raw,width=64,height=48,framerate=200/1 ! appsink name=sink sync=false'

/** Collects garbage in every turn of the event loop until the condition holds. */
async function collectUntil(condition: () => boolean) {
  while (!condition()) {
    globalThis.gc!()
    await turn()
  }
}

// A running pipeline without references continues to run.
{
  let received = 0
  let finish: (() => Promise<void>) | undefined
  {
    const pipeline = new Pipeline(live, () => {})
    pipeline.samples('sink', { queue: 4, full: 'block' }, sample => {
      received++
      sample.release()
      if (received === 50) finish = () => pipeline.dispose()
    })
    pipeline.setState('playing')
  }
  await collectUntil(() => received >= 50)
  await finish!()
}

// Samples that were never released are returned when they are collected. Otherwise the stream would stop after two.
{
  let received = 0
  const pipeline = new Pipeline(live, () => {})
  pipeline.samples('sink', { queue: 2, full: 'block' }, () => {
    received++
  })
  await pipeline.setState('playing')
  await collectUntil(() => received > 50)
  await pipeline.dispose()
}

// The memory of a sample remains valid while its bytes are referenced, even if the sample is collected.
{
  let bytes: Uint8Array | undefined
  const pipeline = new Pipeline(live, () => {})
  pipeline.samples('sink', { queue: 4, full: 'drop-newest' }, sample => {
    bytes ??= sample.data
  })
  await pipeline.setState('playing')
  await collectUntil(() => bytes !== undefined)
  await pipeline.dispose()
  const sum = bytes!.reduce((total, byte) => total + byte)
  for (let i = 0; i < 20; i++) {
    globalThis.gc!()
    await turn()
  }
  if (bytes!.reduce((total, byte) => total + byte) !== sum) throw new Error('the bytes have changed')
}

// A pipeline that was never started, or was stopped, is collected although its callback refers to it.
{
  let collected = 0
  const registry = new FinalizationRegistry(() => collected++)
  async function dropPipeline(start: boolean) {
    const pipeline: Pipeline = new Pipeline(live, () => pipeline.position())
    pipeline.samples('sink', { queue: 4, full: 'block' }, sample => {
      pipeline.position()
      sample.release()
    })
    registry.register(pipeline, undefined)
    if (!start) return
    await pipeline.setState('playing')
    await pipeline.setState('null')
  }
  for (const start of [true, false]) await dropPipeline(start)
  await collectUntil(() => collected === 2)
}

console.log('collected')
