import { describe, expect, it } from 'vitest'
import type { NumberOptions } from './index.ts'
import { launch } from './launch.fixture.ts'

const SECOND = 1e9

/**
 * Pushes frames with these timestamps through a numbered pad. Returns the number and timestamp of
 * each frame that passes.
 */
async function pass(timesNs: (number | undefined)[], options?: NumberOptions, ptsOffset = 0) {
  const { pipeline, message } = launch(
    'appsrc name=source format=time ! identity name=numbered ! appsink name=sink sync=false async=false',
  )
  pipeline.setTimeline({ ptsOffset })
  const numbering = pipeline.number('numbered', 'src', options)
  const passed: { n: number | null; ptsNs: number | null; discont: boolean }[] = []
  pipeline.samples('sink', { queue: 8, full: 'block' }, sample => {
    passed.push({ n: sample.offset, ptsNs: sample.bufferPtsNs, discont: sample.discont })
    sample.release()
  })
  await pipeline.setState('playing')
  for (const ptsNs of timesNs) pipeline.push('source', Uint8Array.of(0), { ptsNs })
  pipeline.endOfStream('source')
  await message('eos')
  return { passed, numbering, times: passed.map(({ ptsNs }) => ptsNs) }
}

const frames = (count: number, fps: number, unitNs = 1) =>
  Array.from({ length: count }, (_, i) => Math.round((i * SECOND) / fps / unitNs) * unitNs)

describe('numbering', () => {
  it('starts at 1 or at the specified number', async () => {
    const first = await pass(frames(5, 25))
    expect(first.passed.map(({ n }) => n)).toEqual([1, 2, 3, 4, 5])
    expect(first.numbering.next).toBe(6)
    const second = await pass(frames(3, 25), { start: first.numbering.next })
    expect(second.passed.map(({ n }) => n)).toEqual([6, 7, 8])
  })

  it('continues the frames of another pipeline, and drops frames that are not newer', async () => {
    const { pipeline, message } = launch(
      'appsrc name=source format=time ! identity name=numbered ! appsink name=sink sync=false async=false',
    )
    const numbering = pipeline.number('numbered', 'src', { rate: 90_000 })
    expect(numbering.newestPts).toBeNull()
    numbering.continueFrom(41, 90_000)
    const numbers: (number | null)[] = []
    pipeline.samples('sink', { queue: 8, full: 'block' }, sample => {
      numbers.push(sample.offset)
      sample.release()
    })
    await pipeline.setState('playing')
    for (const ptsNs of [0, SECOND, 2 * SECOND, 3 * SECOND]) {
      pipeline.push('source', Uint8Array.of(0), { ptsNs })
    }
    pipeline.endOfStream('source')
    await message('eos')
    expect(numbers).toEqual([41, 42])
    expect([numbering.next, numbering.newestPts]).toEqual([43, 270_000])
  })

  it('is preserved by scaling and conversion', async () => {
    const { pipeline, message } = launch(
      'videotestsrc num-buffers=4 ! video/x-raw,format=I420,width=64,height=48 ! queue name=numbered ! videoscale ! ' +
        'video/x-raw,width=32,height=24 ! videoconvert ! video/x-raw,format=RGBP ! appsink name=sink sync=false',
    )
    pipeline.number('numbered', 'src', { start: 41 })
    const offsets: (number | null)[] = []
    pipeline.samples('sink', { queue: 4, full: 'block' }, sample => {
      offsets.push(sample.offset)
      sample.release()
    })
    await pipeline.setState('playing')
    await message('eos')
    expect(offsets).toEqual([41, 42, 43, 44])
  })

  it('rejects an invalid rate', () => {
    const { pipeline } = launch('fakesrc name=source ! fakesink')
    expect(() => pipeline.number('source', 'src', { rate: 0 })).toThrow(
      /rate must be a number of frames per second/,
    )
    expect(() => pipeline.number('source', 'src', { start: 0 })).toThrow(
      /start must be a whole number from 1/,
    )
  })
})

describe('rate limit', () => {
  it.each([
    [30, 15, [0, 2, 4, 6, 8, 10]],
    [30, 10, [0, 3, 6, 9]],
    [25, 10, [0, 3, 5, 8, 10]],
    [12, 30, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]],
  ])(
    'reduces %i frames per second evenly to %i, numbered without gaps',
    async (fps, rate, indices) => {
      const times = frames(12, fps)
      const { passed } = await pass(times, { rate })
      expect(passed.map(({ ptsNs }) => times.indexOf(ptsNs!))).toEqual(indices)
      expect(passed.map(({ n }) => n)).toEqual(indices.map((_, i) => i + 1))
    },
  )

  it.each([24, 25, 30, 50, 60])(
    'of %i frames per second passes every frame of a stream with this rate, despite rounded timestamps',
    async fps => {
      const times = frames(4 * fps, fps, 1e6)
      expect((await pass(times, { rate: fps })).times).toEqual(times)
    },
  )

  it('selects the same frames for any start of the stream', async () => {
    const times = frames(40, 30)
    const whole = await pass(times, { rate: 7 })
    const tail = await pass(times.slice(20), { rate: 7 })
    const shared = whole.times.filter(time => time! > times[20]!)
    expect(tail.times.filter(time => time! > times[20]!)).toEqual(shared)
  })

  it('does not number frames without a timestamp', async () => {
    const { passed } = await pass([0, undefined, undefined, SECOND], { rate: 5 })
    expect(passed).toMatchObject([
      { n: 1, ptsNs: 0 },
      { n: 2, ptsNs: SECOND },
    ])
  })

  it('applies to stream time, which continues across pipelines', async () => {
    const half = 45_000
    const { times } = await pass(
      [0, 0.4 * SECOND, 0.6 * SECOND, 1.4 * SECOND, 1.6 * SECOND],
      { rate: 1 },
      half,
    )
    expect(times).toEqual([0, 0.6 * SECOND, 1.6 * SECOND])
  })

  it('moves the discontinuity flag to the next frame that passes', async () => {
    const { pipeline, message } = launch(
      'concat name=both ! identity name=numbered ! appsink name=sink sync=false async=false ' +
        'appsrc name=first format=time ! both. appsrc name=second format=time ! both.',
    )
    pipeline.number('numbered', 'src', { rate: 1 })
    const passed: [ptsNs: number | null, discont: boolean][] = []
    pipeline.samples('sink', { queue: 8, full: 'block' }, sample => {
      passed.push([sample.bufferPtsNs, sample.discont])
      sample.release()
    })
    await pipeline.setState('playing')
    const push = (source: string, ptsNs: number) =>
      pipeline.push(source, Uint8Array.of(0), { ptsNs, durationNs: 0.1 * SECOND })
    push('first', 0)
    // The first frame of the second stream is flagged, and arrives too early to pass.
    for (const ptsNs of [0, SECOND, 2 * SECOND]) push('second', ptsNs)
    for (const source of ['first', 'second']) pipeline.endOfStream(source)
    await message('eos')
    expect(passed).toEqual([
      [0, true],
      [SECOND, true],
      [2 * SECOND, false],
    ])
  })
})
