import { Worker } from 'node:worker_threads'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Ring, RingFrame } from './index.ts'
import { launch, until } from './launch.fixture.ts'
import { createRing } from './ring.fixture.ts'

const picture = (format: string, width: number, height: number) =>
  `video/x-raw,format=${format},width=${width},height=${height},framerate=30/1`

/** Plays numbered frames of a test pattern into the ring. */
function feed(
  ring: Ring,
  frames: number,
  caps: string,
  onFrame: (frame: RingFrame) => void = () => {},
) {
  const launched = launch(
    `videotestsrc pattern=snow num-buffers=${frames} ! ${caps} ! identity name=numbered ! appsink name=sink sync=false`,
  )
  launched.pipeline.number('numbered', 'src')
  launched.pipeline.toRing('sink', ring, onFrame)
  return launched
}

/**
 * Bytes per row of GStreamer's buffer and of the picture; rows of the picture and of the buffer.
 */
const plane = (stride: number, bytes: number, rows: number, allocated = rows) => ({
  stride,
  bytes,
  rows,
  allocated,
})
type Plane = ReturnType<typeof plane>

function packed(data: Uint8Array, planes: Plane[]): Buffer {
  let start = 0
  const rows: Uint8Array[] = []
  for (const { stride, bytes, rows: count, allocated } of planes) {
    for (let row = 0; row < count; row++) {
      rows.push(data.slice(start + row * stride, start + row * stride + bytes))
    }
    start += stride * allocated
  }
  return Buffer.concat(rows)
}

describe('frame in a ring', () => {
  it.each<[string, number, number, Plane[]]>([
    ['I420', 64, 48, [plane(64, 64, 48), plane(32, 32, 24), plane(32, 32, 24)]],
    ['I420', 63, 47, [plane(64, 63, 47, 48), plane(32, 32, 24), plane(32, 32, 24)]],
    ['NV12', 61, 31, [plane(64, 61, 31, 32), plane(64, 62, 16)]],
    ['GRAY8', 33, 9, [plane(36, 33, 9)]],
    ['RGB', 33, 9, [plane(100, 99, 9)]],
    ['BGRP', 30, 8, [plane(32, 30, 8), plane(32, 30, 8), plane(32, 30, 8)]],
  ])(
    'in %s %ix%i equals the sample with its number, without row padding',
    async (format, width, height, planes) => {
      const { ring, view } = createRing({ format, width, height, slots: 8 })
      const { pipeline, message } = launch(
        `videotestsrc pattern=snow num-buffers=6 ! ${picture(format, width, height)} ! tee name=frames ` +
          'frames. ! queue ! appsink name=sink sync=false frames. ! queue ! appsink name=ring sync=false',
      )
      pipeline.number('frames', 'sink')
      pipeline.setTimeline({ ptsOffset: 1000, timeAnchorUs: 5_000_000 })
      const samples = new Map<number, { data: Buffer; pts: number; timeUs: number }>()
      pipeline.samples('sink', { queue: 2, full: 'block' }, sample => {
        const { pts, timeUs } = sample
        samples.set(sample.offset!, {
          data: packed(sample.data, planes),
          pts: pts!,
          timeUs: timeUs!,
        })
        sample.release()
      })
      pipeline.toRing('ring', ring, () => {})
      await pipeline.setState('playing')
      await message('eos')

      expect([...samples.keys()]).toEqual([1, 2, 3, 4, 5, 6])
      expect(view.header('newest')).toBe(6)
      for (const [n, { data, pts, timeUs }] of samples) {
        expect(view.stamp(n)).toEqual({ sequence: 2 * n, n, pts, timeUs, flags: n === 1 ? 1 : 0 })
        expect(view.payload(n).equals(data)).toBe(true)
        expect(view.payloadBytes(n)).toBe(data.length)
      }
    },
  )

  it('is inside its letterbox, which is filled in every slot', async () => {
    const { ring, view } = createRing({
      format: 'I420',
      width: 20,
      height: 14,
      slots: 2,
      content: { x: 4, y: 2, width: 9, height: 8 },
      fill: [16, 128, 129],
    })
    const launched = launch(
      `videotestsrc pattern=white num-buffers=5 ! ${picture('I420', 9, 8)} ! identity name=i ! appsink name=sink sync=false`,
    )
    launched.pipeline.number('i', 'src')
    launched.pipeline.toRing('sink', ring, () => {})
    await launched.pipeline.setState('playing')
    await launched.message('eos')

    const filled = (
      width: number,
      height: number,
      outside: number,
      inside: number,
      shift: number,
    ) =>
      Array.from({ length: width * height }, (_, i) => {
        const [x, y] = [(i % width) << shift, Math.floor(i / width) << shift]
        return x >= 4 && x < 4 + 9 && y >= 2 && y < 2 + 8 ? inside : outside
      })
    const expected = [
      ...filled(20, 14, 16, 235, 0),
      ...filled(10, 7, 128, 128, 1),
      ...filled(10, 7, 129, 128, 1),
    ]
    for (const n of [4, 5]) expect([...view.payload(n)]).toEqual(expected)
  })

  it('is not marked as following an interruption if only a queue dropped frames', async () => {
    const { ring, view } = createRing({ format: 'GRAY8', width: 16, height: 16, slots: 64 })
    const { pipeline, message } = launch(
      `videotestsrc num-buffers=40 ! ${picture('GRAY8', 16, 16)} ! identity name=numbered ! ` +
        'queue leaky=downstream max-size-buffers=1 max-size-bytes=0 max-size-time=0 ! ' +
        'identity sleep-time=5000 ! appsink name=sink sync=false',
    )
    pipeline.number('numbered', 'src')
    pipeline.toRing('sink', ring, () => {})
    await pipeline.setState('playing')
    await message('eos')

    const written = Array.from({ length: 40 }, (_, i) => i + 1).filter(
      n => view.sequence(n) === 2 * n,
    )
    expect(written.length).toBeLessThan(40)
    expect(written.filter(n => view.stamp(n).flags !== 0 && n !== 1)).toEqual([])
  })

  it('has its padding filled in the order R, G, B', () => {
    const { view } = createRing({ format: 'BGR', width: 2, height: 1, fill: [1, 2, 3] })
    expect([...view.payload(1)]).toEqual([3, 2, 1, 3, 2, 1])
  })

  it('is dropped with a single warning if it does not fit', async () => {
    const { ring, view } = createRing()
    const { pipeline, message, messages } = feed(ring, 5, picture('RGB', 32, 32))
    await pipeline.setState('playing')
    await message('eos')
    const warnings = messages.filter(({ type }) => type === 'warning')
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatchObject({
      source: 'sink',
      error: {
        message: expect.stringMatching(/view\.ring: it is 32x32 RGB instead of 64x48 I420/),
      },
    })
    expect(ring.stats()).toMatchObject({ written: 0, dropped: 5 })
    expect(view.header('newest')).toBe(0)
  })

  it('is dropped if it has no number', async () => {
    const { ring } = createRing()
    const { pipeline, message } = launch(
      `appsrc name=source format=time caps=${picture('I420', 64, 48)} ! appsink name=sink sync=false async=false`,
    )
    pipeline.toRing('sink', ring, () => {})
    await pipeline.setState('playing')
    pipeline.push('source', new Uint8Array(64 * 48 * 1.5), { ptsNs: 0 })
    expect((await message('warning')).error.message).toMatch(/no frame number/)
  })
})

describe('ring notification', () => {
  it('reports the newest frame, at the latest at the end of the stream', async () => {
    const { ring } = createRing()
    const notified: RingFrame[] = []
    const { pipeline, message } = feed(ring, 30, picture('I420', 64, 48), frame =>
      notified.push(frame),
    )
    pipeline.setTimeline({ timeAnchorUs: 0 })
    await pipeline.setState('playing')
    await message('eos')
    expect(notified.at(-1)).toEqual({ n: 30, pts: 29 * 3000, timeUs: 966_666 })
    expect(notified.map(({ n }) => n)).toEqual(
      [...new Set(notified.map(({ n }) => n))].sort((a, b) => a - b),
    )
  })

  it('ends when the feed is closed, while the ring continues with the next feed', async () => {
    const { ring } = createRing()
    const first = launch(
      `videotestsrc is-live=true ! ${picture('I420', 64, 48)} ! identity name=i ! appsink name=sink`,
    )
    const numbering = first.pipeline.number('i', 'src')
    const feedOfFirst = first.pipeline.toRing('sink', ring, () => {})
    await first.pipeline.setState('playing')
    await until(() => ring.stats().written > 2, 'frames are written')
    feedOfFirst.close()
    const { written } = ring.stats()
    const before = numbering.next
    await until(() => numbering.next > before + 2, 'frames are thrown away')
    expect(ring.stats().written).toBe(written)
    await first.pipeline.dispose()

    const second = launch(
      `videotestsrc num-buffers=3 ! ${picture('I420', 64, 48)} ! identity name=i ! appsink name=sink sync=false`,
    )
    const { next } = numbering
    second.pipeline.number('i', 'src', { start: next })
    const notified: number[] = []
    second.pipeline.toRing('sink', ring, ({ n }) => notified.push(n))
    await second.pipeline.setState('playing')
    await second.message('eos')
    expect(notified.at(-1)).toBe(next + 2)
    expect(ring.stats().written).toBe(written + 3)
  })
})

describe('pacing', () => {
  it('writes all granted frames without loss', async () => {
    const { ring, view } = createRing({ slots: 3, pacing: 'all' })
    ring.grant(2)
    const { pipeline, message } = feed(ring, 10, picture('I420', 64, 48))
    await pipeline.setState('playing')
    for (let n = 2; n < 10; n++) {
      await until(() => view.header('newest') >= n, `frame ${n} is written`)
      expect(view.header('newest')).toBe(n)
      expect(view.sequence(n)).toBe(2 * n)
      ring.grant(n + 1)
      ring.grant(1)
    }
    await message('eos')
    expect(ring.stats()).toMatchObject({ written: 10, dropped: 0 })
    expect(ring.stats().waitedNs).toBeGreaterThan(0)
  })

  it('writes the first frame after any grant, because readers do not know its number', async () => {
    const { ring, view } = createRing({ slots: 3, pacing: 'all' })
    const { pipeline, message } = launch(
      `videotestsrc num-buffers=5 ! ${picture('I420', 64, 48)} ! identity name=i ! appsink name=sink sync=false`,
    )
    pipeline.number('i', 'src', { start: 50 })
    pipeline.toRing('sink', ring, () => {})
    await pipeline.setState('playing')
    expect(view.header('newest')).toBe(0)
    ring.grant(3)
    await until(() => view.header('newest') > 0, 'the first frame is written')
    ring.grant(50)
    expect(view.header('newest')).toBe(50)
    ring.grant(54)
    await message('eos')
    expect(ring.stats()).toMatchObject({ written: 5, dropped: 0 })
  })

  it.each<[string, (ring: Ring) => void]>([
    ['changed to newest', ring => ring.setPacing('newest')],
    ['closed with its ring', ring => ring.close()],
  ])('releases a waiting writer when it is %s', async (_, release) => {
    const { ring } = createRing({ pacing: 'all' })
    const { pipeline, message } = feed(ring, 5, picture('I420', 64, 48))
    await pipeline.setState('playing')
    release(ring)
    await message('eos')
  })

  it('continues after a flush while the writer waits', async () => {
    const { ring, view } = createRing({ pacing: 'all' })
    const { pipeline } = feed(ring, 30, picture('I420', 64, 48))
    ring.grant(1)
    await pipeline.setState('playing')
    await until(() => view.header('newest') === 1, 'the first frame is written')
    await pipeline.seek({ toNs: 5e8, flush: true })
    ring.grant(2 ** 40)
    await until(() => view.stamp(view.header('newest')).pts > 0, 'frames arrive again')
  })
})

describe('concurrent ring reader', () => {
  it('always detects torn frames', async () => {
    const [width, height] = [1280, 720]
    const { ring } = createRing({ format: 'GRAY8', width, height, slots: 2 })
    const { pipeline } = launch(
      `appsrc name=source format=time caps=${picture('GRAY8', width, height)} ! identity name=i ! ` +
        'appsink name=sink sync=false async=false',
    )
    pipeline.number('i', 'src')
    pipeline.toRing('sink', ring, () => {})
    await pipeline.setState('playing')

    const counts = { whole: 0, overtaken: 0, wrong: 0 }
    const reader = new Worker(new URL('ring-reader.fixture.ts', import.meta.url), {
      workerData: ring.path,
    })
    onTestFinished(async () => void (await reader.terminate()))
    reader.on('message', (outcome: keyof typeof counts) => counts[outcome]++)

    // All bytes of a frame are equal, so that a mixture of two frames is detected.
    let waiting = 0
    let frame = 0
    await until(() => {
      if (waiting < 8 * width * height || frame % 10 === 0) {
        const data = new Uint8Array(width * height).fill(frame % 251)
        waiting = pipeline.push('source', data, { ptsNs: frame * 1e6 })
      }
      frame++
      return counts.whole > 200 && counts.overtaken > 20
    }, 'both kinds were read')
    expect(counts.wrong).toBe(0)
  })
})
