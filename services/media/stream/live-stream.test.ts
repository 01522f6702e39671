import { expect, test } from 'vitest'
import { createStream, type Viewer } from './live-stream.ts'

const EPOCH = 1_700_000_000_000
const track = {
  width: 320,
  height: 240,
  pixelAspect: { numerator: 1, denominator: 1 },
  avcC: Uint8Array.of(1, 0x42, 0xc0, 0x0d),
}

function unit(index: number, keyframe = index % 5 === 0) {
  return { pts: index * 3000, dts: index * 3000, duration: 3000, keyframe, data: Buffer.from([index]) }
}

/** Remembers what it is shown: `begin`, the unit's only byte, or why it ended. */
function createViewer(): Viewer & { seen: (string | number)[]; waiting: number } {
  return {
    seen: [],
    waiting: 0,
    begin() {
      this.seen.push('begin')
    },
    fragment(bytes) {
      this.seen.push(bytes.at(-1)!)
    },
    backlog() {
      return this.waiting
    },
    end(reason) {
      this.seen.push(reason)
    },
  }
}

function streamOf(units: number) {
  const stream = createStream(EPOCH)
  stream.begin(track)
  for (let i = 0; i < units; i++) stream.write(unit(i))
  return stream
}

test('a viewer begins at the keyframe of the group under way', () => {
  const stream = streamOf(8)
  const viewer = createViewer()
  stream.watch(viewer)
  stream.write(unit(8))
  expect(viewer.seen).toEqual(['begin', 5, 6, 7, 8])
})

test('a viewer who comes before the first keyframe waits for it', () => {
  const stream = createStream(EPOCH)
  const viewer = createViewer()
  stream.watch(viewer)
  stream.begin(track)
  for (const index of [3, 4, 5, 6]) stream.write(unit(index))
  expect(viewer.seen).toEqual(['begin', 5, 6])
})

test('who is slow for a moment is shown what was missed, and the others wait for nobody', () => {
  const stream = streamOf(1)
  const [slow, quick] = [createViewer(), createViewer()]
  stream.watch(slow)
  stream.watch(quick)
  slow.waiting = 1 << 30
  for (const index of [1, 2, 3]) stream.write(unit(index))
  expect(slow.seen).toEqual(['begin', 0])
  expect(quick.seen).toEqual(['begin', 0, 1, 2, 3])
  slow.waiting = 0
  stream.write(unit(4))
  expect(slow.seen).toEqual(['begin', 0, 1, 2, 3, 4])
})

test('who is slow for long is skipped to the newest keyframe', () => {
  const stream = streamOf(2)
  const slow = createViewer()
  stream.watch(slow)
  slow.waiting = 1 << 30
  for (let i = 2; i < 12; i++) stream.write(unit(i))
  slow.waiting = 0
  stream.write(unit(12))
  expect(slow.seen).toEqual(['begin', 0, 1, 10, 11, 12])
})

test('a large group of pictures is shown no faster than its viewer reads, and wholly', () => {
  const stream = createStream(EPOCH)
  stream.begin(track)
  const large = (index: number) => ({ ...unit(index, index === 0), data: Buffer.alloc(2 << 20, index) })
  for (let i = 0; i < 6; i++) stream.write(large(i))
  const viewer = createViewer()
  viewer.fragment = bytes => {
    viewer.seen.push(bytes.at(-1)!)
    viewer.waiting += bytes.length
  }
  stream.watch(viewer)
  expect(viewer.seen).toEqual(['begin', 0, 1])
  viewer.waiting = 0
  stream.write(large(6))
  expect(viewer.seen).toEqual(['begin', 0, 1, 2, 3])
  for (const index of [7, 8]) {
    viewer.waiting = 0
    stream.write(large(index))
  }
  expect(viewer.seen).toEqual(['begin', 0, 1, 2, 3, 4, 5, 6, 7])
})

test('after a gap everybody waits for a keyframe', () => {
  const stream = streamOf(7)
  const viewer = createViewer()
  stream.watch(viewer)
  stream.interrupt()
  for (let i = 8; i < 12; i++) stream.write(unit(i))
  expect(viewer.seen).toEqual(['begin', 5, 6, 10, 11])
  expect(stream.cached().map(({ pts }) => pts)).toEqual([30_000, 33_000])
})

test('another codec configuration begins anew on the same viewer', () => {
  const stream = streamOf(2)
  const viewer = createViewer()
  stream.watch(viewer)
  stream.begin({ ...track })
  expect(viewer.seen).toEqual(['begin', 0, 1])
  stream.begin({ ...track, width: 640, avcC: Uint8Array.of(1, 0x64, 0, 0x1f) })
  stream.write(unit(2, true))
  expect(viewer.seen).toEqual(['begin', 0, 1, 'begin', 2])
  expect(stream.info()).toEqual({ codecs: 'avc1.64001f', width: 640, height: 240, epoch: EPOCH })
})

test('decoding times grow from zero even where the stream begins with reordered pictures', () => {
  const stream = createStream(EPOCH)
  stream.begin(track)
  for (const dts of [-6000, -3000, 0, 3000])
    stream.write({ ...unit(0), dts, pts: dts + 6000, keyframe: dts < -3000 })
  expect(stream.cached().map(({ dts }) => dts)).toEqual([0, 1, 2, 3000])
  expect(stream.cached().map(({ pts }) => pts)).toEqual([0, 3000, 6000, 9000])
})

test('a group of pictures without end is not kept for ever', () => {
  const stream = streamOf(1)
  const large = { ...unit(1), data: Buffer.alloc(20 << 20) }
  stream.write(large)
  expect(stream.cached()).toHaveLength(2)
  const viewer = createViewer()
  stream.watch(viewer)
  stream.write({ ...large, dts: 6000, data: Buffer.alloc(20 << 20, 2) })
  expect(stream.cached()).toHaveLength(0)
  for (const index of [3, 5]) stream.write(unit(index))
  expect(viewer.seen).toEqual(['begin', 0, 0, 2, 3, 5])
})

test('who has left is shown nothing more, and who stays learns why it ends', () => {
  const stream = streamOf(1)
  const [gone, staying] = [createViewer(), createViewer()]
  const leave = stream.watch(gone)
  stream.watch(staying)
  leave()
  stream.end('the camera was removed')
  expect(gone.seen).toEqual(['begin', 0])
  expect(staying.seen).toEqual(['begin', 0, 'the camera was removed'])
  expect(stream.viewers()).toBe(0)
})
