import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { Pipeline } from './index.ts'
import { collect, launch, until } from './launch.fixture.ts'

const endless = 'videotestsrc name=source is-live=true ! fakesink name=end'
const failing = 'filesrc name=file location=/nowhere/at/all ! fakesink'

const thrownBy = (deed: () => unknown): unknown => {
  try {
    deed()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

describe('launch string', () => {
  it.each([
    ['an element that is not installed', 'nosuchelement ! fakesink', /nosuchelement/],
    ['elements that do not fit', 'videotestsrc ! opusenc ! fakesink', /could not link/],
    ['a property that does not exist', 'fakesrc nonsense=1 ! fakesink', /nonsense/],
    ['nothing at all', '', /empty/],
  ])('with %s is rejected with the error of GStreamer', (_, description, words) => {
    const error = thrownBy(() => new Pipeline(description, () => {}))
    expect(error).toMatchObject({ name: 'GstError', domain: 'gst_parse_error' })
    expect((error as Error).message).toMatch(words)
  })

  it('may consist of a single element', async () => {
    const { pipeline } = launch('fakesink name=alone')
    await pipeline.setState('ready')
    expect(pipeline.get('alone', 'sync')).toBe(false)
  })
})

describe('state change', () => {
  it('resolves when the state is reached, with messages for each step', async () => {
    const { pipeline, messages } = launch('videotestsrc ! fakesink')
    await pipeline.setState('paused')
    await pipeline.setState('playing')
    await pipeline.setState('null')
    const steps = messages.flatMap(message =>
      message.type === 'state-changed' ? [message.to] : [],
    )
    expect(steps).toEqual(['ready', 'paused', 'playing', 'paused', 'ready'])
  })

  it('resolves for a live source, which does not preroll', async () => {
    const { pipeline } = launch(endless)
    await expect(pipeline.setState('paused')).resolves.toBeUndefined()
  })

  it('rejects with the error from the bus', async () => {
    const { pipeline, message } = launch(failing)
    await expect(pipeline.setState('playing')).rejects.toMatchObject({
      name: 'GstError',
      domain: 'gst-resource-error-quark',
      code: 3,
      source: 'file',
      debug: expect.stringContaining('/nowhere/at/all'),
    })
    expect(await message('error')).toMatchObject({
      source: 'file',
      error: { name: 'GstError', code: 3 },
    })
  })

  it('rejects if the error occurs after the first steps', async () => {
    const file = join(createTemporaryFolder(), 'no.mp4')
    writeFileSync(file, 'this is no video')
    const { pipeline } = launch(`filesrc location=${file} ! qtdemux name=demux ! fakesink`)
    await expect(pipeline.setState('paused')).rejects.toMatchObject({
      name: 'GstError',
      source: 'demux',
    })
  })

  it('is superseded by the next state change', async () => {
    const { pipeline } = launch('appsrc ! fakesink')
    const waitsForData = pipeline.setState('paused')
    const down = pipeline.setState('null')
    await expect(waitsForData).rejects.toMatchObject({
      name: 'AbortError',
      message: /paused.*superseded.*null/,
    })
    await expect(down).resolves.toBeUndefined()
  })

  it('may be repeated after an error', async () => {
    const { pipeline } = launch(failing)
    for (let round = 0; round < 3; round++) {
      await expect(pipeline.setState('playing')).rejects.toMatchObject({ source: 'file' })
      await pipeline.setState('null')
    }
  })

  it('rejects an unknown state', () => {
    const { pipeline } = launch(endless)
    expect(() => pipeline.setState('stopped' as 'null')).toThrow(/null, ready, paused or playing/)
  })
})

describe('properties', () => {
  it('are read and set according to their types', () => {
    const { pipeline } = launch(
      'videotestsrc name=source ! capsfilter name=shape ! fakesink name=end',
    )
    pipeline.set('source', 'pattern', 'ball')
    pipeline.set('source', 'num-buffers', 5)
    pipeline.set('end', 'sync', true)
    pipeline.set('shape', 'caps', 'video/x-raw,width=320')
    expect(pipeline.get('source', 'pattern')).toBe('ball')
    expect(pipeline.get('source', 'num-buffers')).toBe(5)
    expect(pipeline.get('end', 'sync')).toBe(true)
    expect(pipeline.get('shape', 'caps')).toBe('video/x-raw, width=(int)320')
  })

  it.each<[string, (pipeline: Pipeline) => unknown, RegExp]>([
    ['an unknown element', p => p.get('sorce', 'pattern'), /no element "sorce"; it has .*source/],
    ['an unknown property', p => p.get('source', 'patern'), /"source" has no property "patern"/],
    [
      'a value of the wrong type',
      p => p.set('source', 'num-buffers', 'many'),
      /"num-buffers".*cannot be "many"/,
    ],
    [
      'a value out of range',
      p => p.set('source', 'num-buffers', -7),
      /"num-buffers".*-7.*out of range/,
    ],
    ['a read-only property', p => p.set('end', 'stats', 'x'), /"stats".*cannot be set/],
    ['an unknown pad', p => p.caps('source', 'sink'), /"source" has no pad "sink"/],
  ])('reject %s with a message that names it', (_, action, message) => {
    const { pipeline } = launch(endless)
    expect(() => action(pipeline)).toThrow(message)
  })
})

describe('queries', () => {
  it('return position, duration, caps and latency of a running pipeline', async () => {
    const { pipeline } = launch(
      'videotestsrc num-buffers=30 ! video/x-raw,format=I420,width=32,height=16,framerate=30/1 ! fakesink name=end',
    )
    expect(pipeline.caps('end', 'sink')).toBeNull()
    expect(pipeline.runningTime()).toBeNull()
    await pipeline.setState('paused')
    expect(pipeline.position()).toBe(0)
    expect(pipeline.duration()).toBe(1e9)
    expect(pipeline.latency()).toEqual({ live: false, minNs: 0, maxNs: null })
    expect(pipeline.caps('end', 'sink')).toMatchObject({
      name: 'video/x-raw',
      fields: {
        format: 'I420',
        width: 32,
        height: 16,
        framerate: { numerator: 30, denominator: 1 },
      },
    })
  })

  it('return the running time of a live pipeline', async () => {
    const { pipeline } = launch(endless)
    await pipeline.setState('playing')
    await until(() => (pipeline.runningTime() ?? 0) > 0, 'the clock runs')
  })
})

describe('events', () => {
  it('end the stream', async () => {
    const { pipeline, message } = launch(endless)
    await pipeline.setState('playing')
    await pipeline.sendEos()
    await message('eos')
  })

  it('seek, or reject if no element can seek', async () => {
    const { pipeline } = launch('videotestsrc ! video/x-raw,framerate=25/1 ! fakesink')
    await pipeline.setState('paused')
    await pipeline.seek({ toNs: 2e9, flush: true })
    await until(() => pipeline.position() === 2e9, 'the position is 2 s')
    const { pipeline: deaf } = launch('appsrc ! fakesink')
    await expect(deaf.seek({ toNs: 1e9 })).rejects.toMatchObject({
      name: 'GstError',
      message: /seek/,
    })
  })

  it('request a keyframe from an encoder', async () => {
    const { pipeline } = launch(
      'appsrc name=source format=time caps=video/x-raw,format=I420,width=64,height=64,framerate=10/1 ! ' +
        'openh264enc name=encoder gop-size=1000 ! h264parse ! appsink name=sink sync=false',
    )
    const keyframes: boolean[] = []
    pipeline.samples('sink', { queue: 100, full: 'block' }, sample => {
      keyframes.push(sample.keyframe)
      sample.release()
    })
    const picture = new Uint8Array(64 * 64 * 1.5)
    const push = (frame: number) =>
      pipeline.push('source', picture, { ptsNs: frame * 1e8, durationNs: 1e8 })
    const playing = pipeline.setState('playing')
    for (let frame = 0; frame < 5; frame++) push(frame)
    await playing
    await until(() => keyframes.length >= 4, 'the first frames are out')
    expect(pipeline.forceKeyUnit('encoder')).toBe(true)
    for (let frame = 5; frame < 10; frame++) push(frame)
    pipeline.endOfStream('source')
    await until(() => keyframes.length === 10, 'all frames are out')
    expect(keyframes.filter(Boolean)).toHaveLength(2)
    expect(keyframes[0]).toBe(true)
  })
})

describe('messages', () => {
  it('from elements contain their fields', async () => {
    const { pipeline, message } = launch(
      'videotestsrc num-buffers=3 ! video/x-raw,width=16,height=16 ! videoanalyse name=analyser ! fakesink',
    )
    await pipeline.setState('playing')
    expect(await message('element')).toMatchObject({
      source: 'analyser',
      name: 'GstVideoAnalyse',
      fields: { 'luma-average': expect.any(Number) },
    })
  })

  it('of type eos arrive after the last sample', async () => {
    let order = ''
    const { pipeline, message } = launch(
      'videotestsrc num-buffers=50 ! appsink name=sink sync=false',
    )
    pipeline.samples('sink', { queue: 100, full: 'block' }, sample => {
      order += 's'
      sample.release()
    })
    message('eos').then(() => {
      order += 'e'
    })
    await pipeline.setState('playing')
    await until(() => order.includes('e'), 'the end')
    expect(order).toBe(`${'s'.repeat(50)}e`)
  })
})

describe('appsrc', () => {
  it('receives data and timestamps from JavaScript', async () => {
    const { pipeline, message } = launch(
      'appsrc name=source format=time ! appsink name=sink sync=false',
    )
    const got: unknown[] = []
    pipeline.samples('sink', { queue: 4, full: 'block' }, sample => {
      got.push([[...sample.data], sample.bufferPtsNs, sample.dts, sample.duration])
      sample.release()
    })
    const playing = pipeline.setState('playing')
    const times = { ptsNs: 1e9, dtsNs: 5e8, durationNs: 1e8 }
    const queuedBytes = pipeline.push('source', Uint8Array.of(1, 2, 3), times)
    // None if the streaming thread has already taken the buffer.
    expect([0, 3]).toContain(queuedBytes)
    pipeline.push('source', Uint8Array.of(4))
    pipeline.endOfStream('source')
    await playing
    await message('eos')
    expect(got).toEqual([
      [[1, 2, 3], 1e9, 45_000, 9000],
      [[4], null, null, null],
    ])
    expect(() => pipeline.push('source', Uint8Array.of(5))).toThrow(
      /"source" accepts no more data: eos/,
    )
    expect(() => pipeline.push('sink', Uint8Array.of(5))).toThrow(/"sink" is not an appsrc/)
  })
})

describe('pipeline that was disposed of', () => {
  it('rejects every method except dispose', async () => {
    const { pipeline } = launch(endless)
    await pipeline.setState('playing')
    await Promise.all([pipeline.dispose(), pipeline.dispose()])
    await pipeline.dispose()
    expect(() => pipeline.setState('playing')).toThrow(/disposed/)
    expect(() => pipeline.get('source', 'pattern')).toThrow(/disposed/)
  })

  it('does not block other pipelines while it is disposed of', async () => {
    const disposed = launch(endless)
    const staying = collect(
      'videotestsrc num-buffers=20 is-live=true ! appsink name=sink',
      sample => sample.pts,
    )
    await disposed.pipeline.setState('playing')
    await disposed.pipeline.dispose()
    expect(await staying).toHaveLength(20)
  })
})
