import { join } from 'node:path'
import { viewSpec } from '@eyrie/contract/view'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createTestRing, type TestRing } from '../../../test/fixtures/media/test-ring.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { FrameFeed } from './frame-feed.ts'
import { SourceView } from './source-view.ts'
import { UpstreamResults } from './upstream-results.ts'

const PATIENCE = 3
const read = viewSpec.parse({ format: 'GRAY8', width: 8, height: 8 })
const picture = viewSpec.parse({ format: 'RGB', width: 8, height: 8 })

let folder: string
let reached: number
let restarts: number
let required: SourceView
let pictures: SourceView
let findings: UpstreamResults
let feed: FrameFeed

/** Media has made the view's ring. */
function make(view: SourceView, payloadSize: number): TestRing {
  const ring = createTestRing(join(folder, `${view.spec.format}.ring`), {
    width: 8,
    height: 8,
    format: view.spec.format,
    payloadSize,
  })
  onTestFinished(() => ring.close())
  view.attachRing(ring)
  return ring
}

function createFeed(view: SourceView): FrameFeed {
  const listener = { onFrame() {}, onRestart: () => restarts++, onChange() {} }
  return new FrameFeed(1, [view], listener, {
    newestFrame: () => reached,
    upstreamResults: () => findings,
    openViews: specs => specs.map(spec => (spec === picture ? pictures : required)),
    onConsumed() {},
    pruneViews() {},
    onClose() {},
  })
}

beforeEach(() => {
  folder = createTemporaryFolder()
  findings = new UpstreamResults()
  reached = 10
  restarts = 0
  required = new SourceView(read)
  pictures = new SourceView(picture)
  feed = createFeed(required)
  onTestFinished(() => {
    required.close()
    pictures.close()
  })
  make(required, 64)
  required.notifyFrame({ n: 11, discontinuity: false })
})

describe('upstream results', () => {
  const found = (pts: number, type: string) => ({
    ...{ pts, time: pts, objects: [], discontinuity: type === 'cut' },
    events: [{ type }],
  })

  it('are returned with the frame of the same pts, including events of skipped frames', () => {
    for (const [pts, type] of [
      [100, 'first'],
      [200, 'cut'],
      [300, 'third'],
      [400, 'later'],
    ] as const) {
      findings.add(found(pts, type))
    }
    expect(feed.nextUpstreamResult(100)?.events).toEqual([{ type: 'first' }])
    expect(feed.nextUpstreamResult(250)).toBeUndefined()
    expect(feed.nextUpstreamResult(300)).toEqual({
      ...{ pts: 300, time: 300, objects: [], discontinuity: true },
      events: [{ type: 'cut' }, { type: 'third' }],
    })
    expect(feed.nextUpstreamResult(300)).toBeUndefined()
  })

  it('are returned again after the ring is replaced, since pts may restart', () => {
    findings.add(found(5000, 'before'))
    feed.nextUpstreamResult(5000)
    feed.onRestart(required)
    findings.add(found(0, 'after'))
    expect(feed.nextUpstreamResult(0)?.events).toEqual([{ type: 'after' }])
  })
})

describe('sink views of a feed', () => {
  it('do not delay frames before they start or when they fail', () => {
    feed.setSinkViews([picture], PATIENCE)
    expect(feed.newest).toBe(11)
    make(pictures, 192)
    expect(feed.newest).toBe(11)
    pictures.notifyFrame({ n: 11, discontinuity: true })
    required.notifyFrame({ n: 12, discontinuity: false })
    expect(feed.newest).toBe(11)
    pictures.failure = 'no memory'
    expect(feed.newest).toBe(12)
    expect([feed.failure, feed.sinkViewFailure]).toEqual([undefined, 'no memory'])
  })

  it('delay frames by at most the maximum lag', () => {
    feed.setSinkViews([picture], PATIENCE)
    make(pictures, 192)
    pictures.notifyFrame({ n: 12, discontinuity: false })
    required.notifyFrame({ n: 13, discontinuity: false })
    expect(feed.newest).toBe(12)
    required.notifyFrame({ n: 20, discontinuity: false })
    expect(feed.newest).toBe(17)
  })

  it('have the first frame if they were requested before the source started', () => {
    reached = 0
    feed.setSinkViews([picture], Number.POSITIVE_INFINITY)
    reached = 11
    expect(feed.newest).toBe(0)
    pictures.notifyFrame({ n: 11, discontinuity: false })
    expect(feed.newest).toBe(11)
  })

  it('neither restart nor interrupt the feed when added, and release their ring when removed', () => {
    restarts = 0
    feed.consumeDiscontinuity(11)
    feed.setSinkViews([picture], PATIENCE)
    make(pictures, 192)
    pictures.notifyFrame({ n: 11, discontinuity: true })
    expect(feed.findRing(picture)).toEqual(pictures.ringLocation)
    expect([restarts, feed.consumeDiscontinuity(12)]).toEqual([0, false])
    feed.setSinkViews([], PATIENCE)
    expect(pictures.readers.size).toBe(0)
    expect(feed.findRing(picture)).toBeUndefined()
  })

  it('share a view that the elements read', () => {
    feed.setSinkViews([read], PATIENCE)
    feed.setSinkViews([], PATIENCE)
    expect([...required.readers]).toEqual([feed])
  })
})

describe('further views of a feed', () => {
  it('delay no frames, unless their pictures are awaited', () => {
    feed.setExtraViews([picture], [])
    make(pictures, 192)
    required.notifyFrame({ n: 12, discontinuity: false })
    expect([feed.newest, feed.newestInView(picture)]).toEqual([12, 0])
    pictures.notifyFrame({ n: 12, discontinuity: true })
    feed.setExtraViews([picture], [picture])
    required.notifyFrame({ n: 13, discontinuity: false })
    expect([feed.newest, feed.newestInView(picture)]).toEqual([12, 12])
    pictures.failure = 'no memory'
    expect(feed.newest).toBe(13)
  })

  it('become those of the elements without a restart as soon as they have pictures', () => {
    feed.setSinkViews([read], PATIENCE)
    feed.setExtraViews([picture], [picture])
    make(pictures, 192)
    expect(feed.continueWith([picture])).toBe(false)
    pictures.notifyFrame({ n: 12, discontinuity: true })
    feed.consumeDiscontinuity(11)
    restarts = 0
    expect(feed.continueWith([picture])).toBe(true)
    feed.setExtraViews([], [])
    pictures.notifyFrame({ n: 13, discontinuity: false })
    required.notifyFrame({ n: 13, discontinuity: false })
    expect([feed.newest, restarts, feed.consumeDiscontinuity(13)]).toEqual([13, 0, false])
    // The sinks still read the view that the elements have read.
    expect([...required.readers]).toEqual([feed])
    feed.setSinkViews([], PATIENCE)
    expect([required.readers.size, pictures.readers.size]).toEqual([0, 1])
  })
})

describe('discontinuity of a feed', () => {
  it('is reported once, even if the frame is found in the ring before its notification arrives', () => {
    expect(feed.consumeDiscontinuity(11)).toBe(true)
    required.notifyFrame({ n: 11, discontinuity: true })
    expect(feed.consumeDiscontinuity(12)).toBe(false)
    required.notifyFrame({ n: 13, discontinuity: true })
    expect(feed.consumeDiscontinuity(13)).toBe(true)
  })
})

describe('a feed with other views', () => {
  it('continues after the frame from which on it has all frames, and is not interrupted by its first one', () => {
    feed.consumeDiscontinuity(11)
    const next = createFeed(pictures)
    expect(next.hasFramesAfter(11)).toBe(false)
    const ring = make(pictures, 192)
    expect(next.hasFramesAfter(11)).toBe(false)
    const write = (n: number) => {
      ring.write(n, new Uint8Array(192))
      pictures.notifyFrame({ n, discontinuity: n === 13 })
    }
    write(13)
    expect([11, 12, 13].map(n => next.hasFramesAfter(n))).toEqual([false, true, true])
    write(14)
    expect([11, 12, 13, 14].map(n => next.hasFramesAfter(n))).toEqual([false, true, true, true])

    next.continueAfter(feed)
    expect(next.consumeDiscontinuity(14)).toBe(false)
    // The notification of the first frame may arrive late.
    pictures.notifyFrame({ n: 13, discontinuity: true })
    expect(next.consumeDiscontinuity(15)).toBe(false)
    pictures.notifyFrame({ n: 16, discontinuity: true })
    expect(next.consumeDiscontinuity(16)).toBe(true)
  })

  it('reports an interruption that the feed before it has not reported yet', () => {
    const next = createFeed(pictures)
    make(pictures, 192).write(12, new Uint8Array(192))
    pictures.notifyFrame({ n: 12, discontinuity: true })
    next.continueAfter(feed)
    expect([12, 13].map(n => next.consumeDiscontinuity(n))).toEqual([true, false])
  })
})
