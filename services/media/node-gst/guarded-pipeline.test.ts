import { describe, expect, it, onTestFinished } from 'vitest'
import { type Message, Pipeline, type Sample } from './index.ts'
import { launch, until } from './launch.fixture.ts'
import { createRing } from './ring.fixture.ts'

const thrown = new RangeError('the width is out of range')
const createReport = (source: string | null) => ({
  source: source ?? '',
  error: {
    name: 'GstError',
    message: 'its data cannot be processed: the width is out of range',
    source,
    cause: thrown,
  },
})

describe('exception of a callback', () => {
  it('for samples is reported as an error of the appsink, which is read no more', async () => {
    const { pipeline, messages, message } = launch('videotestsrc num-buffers=9 ! appsink name=sink')
    const samples: Sample[] = []
    pipeline.samples('sink', { queue: 1, full: 'block' }, sample => {
      samples.push(sample)
      throw thrown
    })
    await pipeline.setState('playing')
    await message('eos')
    expect(messages.filter(({ type }) => type === 'error')).toMatchObject([createReport('sink')])
    expect(samples.map(({ data }) => data.length)).toEqual([0])
  })

  it('for frames of a ring is reported as an error of the appsink', async () => {
    const { ring } = createRing({ format: 'GRAY8', width: 16, height: 16 })
    const { pipeline, messages, message } = launch(
      'videotestsrc is-live=true num-buffers=9 ! video/x-raw,format=GRAY8,width=16,height=16 ! identity name=numbered ! appsink name=sink',
    )
    pipeline.number('numbered', 'src')
    pipeline.toRing('sink', ring, () => {
      throw thrown
    })
    await pipeline.setState('playing')
    await message('eos')
    expect(messages.filter(({ type }) => type === 'error')).toMatchObject([createReport('sink')])
  })

  it('for messages is reported as an error of the pipeline', async () => {
    const messages: Message[] = []
    const pipeline = new Pipeline('videotestsrc num-buffers=1 ! fakesink', message => {
      messages.push(message)
      if (message.type === 'stream-start') throw thrown
    })
    onTestFinished(() => pipeline.dispose())
    await pipeline.setState('playing')
    await until(() => messages.some(({ type }) => type === 'eos'), 'the stream has ended')
    expect(messages.filter(({ type }) => type === 'error')).toMatchObject([createReport(null)])
  })
})
