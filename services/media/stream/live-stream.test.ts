import { describe, expect, it } from 'vitest'
import { createStream, type Viewer } from './live-stream.ts'

const EPOCH = 1_700_000_000_000
const track = {
  width: 320,
  height: 240,
  pixelAspect: { numerator: 1, denominator: 1 },
  avcC: Uint8Array.of(1, 0x42, 0xc0, 0x0d),
}

function unit(index: number, keyframe = index % 5 === 0) {
  return {
    pts: index * 3000,
    dts: index * 3000,
    duration: 3000,
    keyframe,
    data: Buffer.from([index]),
  }
}

/** Records `begin`, the last byte of each fragment, and the reason of the end. */
function createViewer(): Viewer & { received: (string | number)[]; unsentBytes: number } {
  return {
    received: [],
    unsentBytes: 0,
    begin() {
      this.received.push('begin')
    },
    fragment(bytes) {
      this.received.push(bytes.at(-1)!)
    },
    backlog() {
      return this.unsentBytes
    },
    end(reason) {
      this.received.push(reason)
    },
  }
}

function createTestStream(units: number) {
  const stream = createStream(EPOCH)
  stream.begin(track)
  for (let i = 0; i < units; i++) stream.write(unit(i))
  return stream
}

describe('live stream', () => {
  it('starts a viewer at the keyframe of the current GOP', () => {
    const stream = createTestStream(8)
    const viewer = createViewer()
    stream.watch(viewer)
    stream.write(unit(8))
    expect(viewer.received).toEqual(['begin', 5, 6, 7, 8])
  })

  it('makes a viewer wait for the first keyframe', () => {
    const stream = createStream(EPOCH)
    const viewer = createViewer()
    stream.watch(viewer)
    stream.begin(track)
    for (const index of [3, 4, 5, 6]) stream.write(unit(index))
    expect(viewer.received).toEqual(['begin', 5, 6])
  })

  it('lets a slow viewer catch up without delaying others', () => {
    const stream = createTestStream(1)
    const slow = createViewer()
    const quick = createViewer()
    stream.watch(slow)
    stream.watch(quick)
    slow.unsentBytes = 1 << 30
    for (const index of [1, 2, 3]) stream.write(unit(index))
    expect(slow.received).toEqual(['begin', 0])
    expect(quick.received).toEqual(['begin', 0, 1, 2, 3])
    slow.unsentBytes = 0
    stream.write(unit(4))
    expect(slow.received).toEqual(['begin', 0, 1, 2, 3, 4])
  })

  it('moves a viewer that is slow for long to the newest keyframe', () => {
    const stream = createTestStream(2)
    const slow = createViewer()
    stream.watch(slow)
    slow.unsentBytes = 1 << 30
    for (let i = 2; i < 12; i++) stream.write(unit(i))
    slow.unsentBytes = 0
    stream.write(unit(12))
    expect(slow.received).toEqual(['begin', 0, 1, 10, 11, 12])
  })

  it('sends a large GOP completely, at the pace of its viewer', () => {
    const stream = createStream(EPOCH)
    stream.begin(track)
    const large = (index: number) => ({
      ...unit(index, index === 0),
      data: Buffer.alloc(2 << 20, index),
    })
    for (let i = 0; i < 6; i++) stream.write(large(i))
    const viewer = createViewer()
    viewer.fragment = bytes => {
      viewer.received.push(bytes.at(-1)!)
      viewer.unsentBytes += bytes.length
    }
    stream.watch(viewer)
    expect(viewer.received).toEqual(['begin', 0, 1])
    viewer.unsentBytes = 0
    stream.write(large(6))
    expect(viewer.received).toEqual(['begin', 0, 1, 2, 3])
    for (const index of [7, 8]) {
      viewer.unsentBytes = 0
      stream.write(large(index))
    }
    expect(viewer.received).toEqual(['begin', 0, 1, 2, 3, 4, 5, 6, 7])
  })

  it('waits for a keyframe after an interruption', () => {
    const stream = createTestStream(7)
    const viewer = createViewer()
    stream.watch(viewer)
    stream.interrupt()
    for (let i = 8; i < 12; i++) stream.write(unit(i))
    expect(viewer.received).toEqual(['begin', 5, 6, 10, 11])
    expect(stream.cachedUnits().map(({ pts }) => pts)).toEqual([30_000, 33_000])
  })

  it('sends a new init segment when the codec configuration changes', () => {
    const stream = createTestStream(2)
    const viewer = createViewer()
    stream.watch(viewer)
    stream.begin({ ...track })
    expect(viewer.received).toEqual(['begin', 0, 1])
    stream.begin({ ...track, width: 640, avcC: Uint8Array.of(1, 0x64, 0, 0x1f) })
    stream.write(unit(2, true))
    expect(viewer.received).toEqual(['begin', 0, 1, 'begin', 2])
    expect(stream.info()).toEqual({ codecs: 'avc1.64001f', width: 640, height: 240, epoch: EPOCH })
  })

  it('makes decode times increase from zero when a stream begins with reordered pictures', () => {
    const stream = createStream(EPOCH)
    stream.begin(track)
    for (const dts of [-6000, -3000, 0, 3000]) {
      stream.write({ ...unit(0), dts, pts: dts + 6000, keyframe: dts < -3000 })
    }
    expect(stream.cachedUnits().map(({ dts }) => dts)).toEqual([0, 1, 2, 3000])
    expect(stream.cachedUnits().map(({ pts }) => pts)).toEqual([0, 3000, 6000, 9000])
  })

  it('stops caching a GOP that is too large', () => {
    const stream = createTestStream(1)
    const large = { ...unit(1), data: Buffer.alloc(20 << 20) }
    stream.write(large)
    expect(stream.cachedUnits()).toHaveLength(2)
    const viewer = createViewer()
    stream.watch(viewer)
    stream.write({ ...large, dts: 6000, data: Buffer.alloc(20 << 20, 2) })
    expect(stream.cachedUnits()).toHaveLength(0)
    for (const index of [3, 5]) stream.write(unit(index))
    expect(viewer.received).toEqual(['begin', 0, 0, 2, 3, 5])
  })

  it('sends nothing after a viewer has left and reports the reason of the end to the others', () => {
    const stream = createTestStream(1)
    const leaving = createViewer()
    const remaining = createViewer()
    const leave = stream.watch(leaving)
    stream.watch(remaining)
    leave()
    stream.end('the camera was removed')
    expect(leaving.received).toEqual(['begin', 0])
    expect(remaining.received).toEqual(['begin', 0, 'the camera was removed'])
    expect(stream.viewerCount()).toBe(0)
  })
})
