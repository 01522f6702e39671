import { describe, expect, it } from 'vitest'
import type { Sample, SampleOptions, WhenFull } from './index.ts'
import { collect, launch, until } from './launch.fixture.ts'

const encoded =
  'videotestsrc num-buffers=30 ! video/x-raw,format=I420,width=64,height=64,framerate=30/1 ! ' +
  'x264enc key-int-max=10 bframes=2 b-adapt=false rc-lookahead=5 ! h264parse ! ' +
  'video/x-h264,stream-format=avc,alignment=au ! appsink name=sink sync=false'

/** All bytes of frame i have the value i. */
function numbered(frames: number, options: SampleOptions, onSample: (sample: Sample) => void) {
  const launched = launch(
    'appsrc name=source format=time ! appsink name=sink sync=false async=false',
  )
  const stream = launched.pipeline.samples('sink', options, onSample)
  const played = launched.pipeline.setState('playing').then(() => {
    for (let i = 0; i < frames; i++) {
      launched.pipeline.push('source', new Uint8Array(100).fill(i), { ptsNs: i * 1e9 })
    }
    launched.pipeline.endOfStream('source')
  })
  return { ...launched, stream, played }
}

describe('samples of an encoded stream', () => {
  it('have exact times, in decoding order, of reordered pictures', async () => {
    const packets = await collect(encoded, ({ pts, dts, duration }) => ({ pts, dts, duration }))
    expect(packets).toHaveLength(30)
    expect(packets.every(({ duration }) => duration === 3000)).toBe(true)
    expect(packets.map(({ dts }) => dts)).toEqual(
      packets.map((_, i) => packets[0]!.dts! + i * 3000),
    )
    expect(packets.every(({ pts, dts }) => pts! >= dts!)).toBe(true)
    expect(packets.some(({ pts }, i) => i > 0 && pts! < packets[i - 1]!.pts!)).toBe(true)
    expect(packets.map(({ pts }) => pts!).sort((a, b) => a - b)).toEqual(
      packets.map((_, i) => i * 3000),
    )
  })

  it('mark keyframes', async () => {
    const keyframes = await collect(encoded, sample => sample.keyframe)
    expect(keyframes.flatMap((keyframe, i) => (keyframe ? [i] : []))).toEqual([0, 10, 20])
  })

  it('contain the caps in the first sample and after changes', async () => {
    const caps = await collect(encoded, sample => sample.caps)
    expect(caps[0]).toMatchObject({
      name: 'video/x-h264',
      fields: { width: 64, height: 64, alignment: 'au' },
    })
    const avcC = caps[0]!.fields.codec_data as Uint8Array
    expect(avcC[0]).toBe(1)
    expect(avcC.length).toBeGreaterThan(10)
    expect(caps.slice(1).every(later => later === null)).toBe(true)

    const { pipeline } = launch(
      'appsrc name=source format=time ! appsink name=sink sync=false async=false',
    )
    const received: unknown[] = []
    pipeline.samples('sink', { queue: 1, full: 'block' }, sample => {
      received.push(sample.caps?.text ?? null)
      sample.release()
    })
    await pipeline.setState('playing')
    for (const caps of ['a/b, n=(int)1', 'a/b, n=(int)1', 'a/b, n=(int)2']) {
      pipeline.set('source', 'caps', caps)
      pipeline.push('source', Uint8Array.of(0))
    }
    await until(() => received.length === 3, 'three samples arrive')
    expect(received).toEqual(['a/b, n=(int)1', null, 'a/b, n=(int)2'])
  })
})

describe('timeline', () => {
  const times =
    'videotestsrc num-buffers=4 ! video/x-raw,framerate=30000/1001 ! appsink name=sink sync=false'

  it('converts times to stream time with one rounding', async () => {
    const { pipeline, message } = launch(times)
    const ptsOffset = 2 ** 40 + 1
    pipeline.setTimeline({ ptsOffset, timeAnchorUs: 1_700_000_000_000_000 })
    const received: (number | null)[][] = []
    pipeline.samples('sink', { queue: 4, full: 'block' }, sample => {
      received.push([
        sample.bufferPtsNs,
        sample.pts! - ptsOffset,
        sample.timeUs! - 1_700_000_000_000_000,
      ])
      sample.release()
    })
    await pipeline.setState('playing')
    await message('eos')
    expect(received).toEqual([
      [0, 0, 0],
      [33_366_666, 3003, 33_366],
      [66_733_333, 6006, 66_733],
      [100_100_000, 9009, 100_100],
    ])
  })

  it('measures the wall clock at running time 0 for the first buffer', async () => {
    const { pipeline } = launch(
      'videotestsrc is-live=true ! video/x-raw,framerate=20/1 ! appsink name=sink sync=false',
    )
    const samples: { ageUs: number; anchorUs: number }[] = []
    pipeline.samples('sink', { queue: 4, full: 'block' }, sample => {
      const { timeUs, runningTicks } = sample
      const ageUs = Date.now() * 1000 - timeUs!
      samples.push({ ageUs, anchorUs: timeUs! - Math.round(runningTicks! / 0.09) })
      sample.release()
    })
    await pipeline.setState('playing')
    await until(() => samples.length >= 10, 'ten samples arrive')
    for (const { ageUs, anchorUs } of samples) {
      expect(ageUs).toBeGreaterThan(-1000)
      expect(Math.abs(anchorUs - samples[0]!.anchorUs)).toBeLessThan(20)
    }
    expect(Math.min(...samples.map(({ ageUs }) => ageUs))).toBeLessThan(1_000_000)
  })

  it('fixes the offset at the first buffer, while the anchor may change', async () => {
    const { pipeline, message } = launch(times)
    pipeline.setTimeline({ ptsOffset: 1 })
    pipeline.setTimeline({ ptsOffset: 2 })
    pipeline.samples('sink', { queue: 4, full: 'block' }, sample => sample.release())
    await pipeline.setState('playing')
    await message('eos')
    expect(() => pipeline.setTimeline({ ptsOffset: 3 })).toThrow(/fixed once the first buffer/)
    pipeline.setTimeline({ ptsOffset: 2, timeAnchorUs: 5 })
  })

  it('is realigned for later buffers, equally in every sink', async () => {
    const { pipeline, message } = launch(
      'appsrc name=source format=time ! tee name=all ! queue ! appsink name=early sync=false async=false ' +
        'all. ! queue ! identity name=late sleep-time=1000 ! appsink name=sink sync=false async=false',
    )
    pipeline.setTimeline({ ptsOffset: 1000 })
    const times = new Map<string, (number | null)[]>([
      ['early', []],
      ['sink', []],
    ])
    for (const [sink, pts] of times) {
      pipeline.samples(sink, { queue: 8, full: 'block' }, sample => {
        pts.push(sample.pts)
        sample.release()
      })
    }
    await pipeline.setState('playing')
    const push = (count: number, from: number) => {
      for (let n = from; n < from + count; n++) {
        pipeline.push('source', Uint8Array.of(0), { ptsNs: n * 1e9 })
      }
    }
    push(5, 0)
    await until(() => times.get('early')!.length === 5, 'the first buffers have arrived')
    pipeline.realign(500)
    push(5, 5)
    pipeline.endOfStream('source')
    await message('eos')

    const expected = Array.from({ length: 10 }, (_, n) => (n < 5 ? 1000 : 500) + n * 90_000)
    expect(times.get('early')).toEqual(expected)
    expect(times.get('sink')).toEqual(expected)
  })
})

describe('full sample queue', () => {
  it('loses no samples with block, and never delivers more than its size', async () => {
    const held: Sample[] = []
    let most = 0
    const { stream, message, played } = numbered(50, { queue: 3, full: 'block' }, sample => {
      most = Math.max(most, held.push(sample))
    })
    await played
    const received: number[] = []
    while (received.length < 50) {
      await until(() => held.length > 0, 'a sample is held')
      const sample = held.shift()!
      received.push(sample.data[0]!)
      sample.release()
    }
    await message('eos')
    expect(received).toEqual(Array.from({ length: 50 }, (_, i) => i))
    expect(most).toBe(3)
    expect(stream.stats()).toEqual({ delivered: 50, dropped: 0 })
  })

  it.each<[WhenFull, [number, boolean][]]>([
    [
      'drop-oldest',
      [
        [8, true],
        [9, false],
      ],
    ],
    [
      'drop-newest',
      [
        [0, true],
        [1, false],
      ],
    ],
  ])('with %s counts dropped samples and marks the gap', async (full, expected) => {
    const received: [number, boolean][] = []
    const { pipeline, stream, message, played } = numbered(10, { queue: 2, full }, sample => {
      received.push([sample.data[0]!, sample.discont])
      sample.release()
    })
    await played
    // All ten pass in the same turn of the event loop, so that none is delivered in between.
    const deadline = performance.now() + 10_000
    while (pipeline.get('sink', 'eos') !== true) expect(performance.now()).toBeLessThan(deadline)
    await message('eos')
    expect(received).toEqual(expected)
    expect(stream.stats()).toEqual({ delivered: 2, dropped: 8 })
  })

  it('drops the new sample if no sample is waiting', async () => {
    const held: Sample[] = []
    const { stream, message, played } = numbered(10, { queue: 2, full: 'drop-oldest' }, sample =>
      held.push(sample),
    )
    await played
    await message('eos')
    expect(held).toHaveLength(2)
    expect(stream.stats()).toEqual({ delivered: 2, dropped: 8 })
    for (const sample of held) sample.release()
  })
})

describe('sample', () => {
  it('refers to the memory of the buffer, and is empty after it is released', async () => {
    const { played, message } = numbered(1, { queue: 2, full: 'block' }, sample => {
      const { data } = sample
      expect([data.length, data[99]]).toEqual([100, 0])
      sample.release()
      sample.release()
      expect([data.length, sample.data.length]).toEqual([0, 0])
    })
    await played
    await message('eos')
  })

  it('remains valid after its stream is closed and its pipeline disposed of', async () => {
    const held: Sample[] = []
    const { played, stream, pipeline } = numbered(3, { queue: 3, full: 'block' }, sample =>
      held.push(sample),
    )
    await played
    await until(() => held.length === 3, 'three samples are held')
    stream.close()
    await pipeline.dispose()
    expect(held.map(sample => sample.data[50])).toEqual([0, 1, 2])
    for (const sample of held) sample.release()
  })
})

describe('sample stream', () => {
  it('delivers nothing after it is closed, and its appsink can be read again', async () => {
    const { pipeline } = launch('videotestsrc is-live=true ! appsink name=sink')
    let first = 0
    let second = 0
    const stream = pipeline.samples('sink', { queue: 2, full: 'block' }, sample => {
      first++
      sample.release()
    })
    const again = () =>
      pipeline.samples('sink', { queue: 2, full: 'block' }, sample => {
        second++
        sample.release()
      })
    expect(again).toThrow(/"sink" already has a reader/)
    await pipeline.setState('playing')
    await until(() => first > 0, 'the first taker has a sample')
    stream.close()
    const before = first
    again()
    await until(() => second > 2, 'the second taker has samples')
    expect(first).toBe(before)
  })

  it('rejects elements other than appsinks and invalid options', () => {
    const { pipeline } = launch('fakesrc ! fakesink name=end appsrc ! appsink name=sink')
    const readSamples = (sink: string, options: object) => () =>
      pipeline.samples(sink, options as SampleOptions, () => {})
    expect(readSamples('end', { queue: 1, full: 'block' })).toThrow(/"end" is not an appsink/)
    expect(readSamples('sink', { queue: 0, full: 'block' })).toThrow(
      /queue must be a whole number from 1/,
    )
    expect(readSamples('sink', { queue: 1, full: 'explode' })).toThrow(
      /drop-oldest, drop-newest or block/,
    )
  })
})
