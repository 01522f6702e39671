import { join } from 'node:path'
import { viewSpec } from '@eyrie/contract/view'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createTestRing } from '../../../test/fixtures/ring.ts'
import { temporaryFolder } from '../../../test/fixtures/temporary.ts'
import { Feed } from './feed.ts'
import { Findings } from './findings.ts'
import { SourceView } from './source-view.ts'

const PATIENCE = 3
const read = viewSpec.parse({ format: 'GRAY8', width: 8, height: 8 })
const picture = viewSpec.parse({ format: 'RGB', width: 8, height: 8 })

let folder: string
let reached: number
let restarts: number
let required: SourceView
let pictures: SourceView
let findings: Findings
let feed: Feed

/** Media has made the view's ring. */
function make(view: SourceView, payloadSize: number) {
  const ring = createTestRing(join(folder, `${view.spec.format}.ring`), {
    width: 8,
    height: 8,
    format: view.spec.format,
    payloadSize,
  })
  onTestFinished(() => ring.close())
  view.made(ring)
}

beforeEach(() => {
  folder = temporaryFolder()
  findings = new Findings()
  reached = 10
  restarts = 0
  required = new SourceView(read)
  pictures = new SourceView(picture)
  const listener = { woken() {}, restarted: () => restarts++, changed() {} }
  feed = new Feed(1, [required], listener, {
    reached: () => reached,
    findings: () => findings,
    views: specs => specs.map(spec => (spec === picture ? pictures : required)),
    consumed() {},
    left() {},
    closed() {},
  })
  onTestFinished(() => {
    required.close()
    pictures.close()
  })
  make(required, 64)
  required.woken(11, false)
})

describe('what another engine has found', () => {
  const found = (pts: number, type: string) => ({
    ...{ pts, time: pts, objects: [], discontinuity: type === 'cut' },
    events: [{ type }],
  })

  it('comes with the frame of just this time, and the events of frames passed over come along', () => {
    for (const [pts, type] of [
      [100, 'first'],
      [200, 'cut'],
      [300, 'third'],
      [400, 'later'],
    ] as const)
      findings.add(found(pts, type))
    expect(feed.takeFindings(100)?.events).toEqual([{ type: 'first' }])
    expect(feed.takeFindings(250)).toBeUndefined()
    expect(feed.takeFindings(300)).toEqual({
      ...{ pts: 300, time: 300, objects: [], discontinuity: true },
      events: [{ type: 'cut' }, { type: 'third' }],
    })
    expect(feed.takeFindings(300)).toBeUndefined()
  })

  it('is told anew after the ring was made anew, since time may have begun again', () => {
    findings.add(found(5000, 'before'))
    feed.takeFindings(5000)
    feed.restarted(required)
    findings.add(found(0, 'after'))
    expect(feed.takeFindings(0)?.events).toEqual([{ type: 'after' }])
  })
})

describe('a picture that goes along with a feed', () => {
  it('holds nothing up before it has begun, nor when it cannot be made', () => {
    feed.accompany([picture], PATIENCE)
    expect(feed.ready).toBe(11)
    make(pictures, 192)
    expect(feed.ready).toBe(11)
    pictures.woken(11, true)
    required.woken(12, false)
    expect(feed.ready).toBe(11)
    pictures.failure = 'no memory'
    expect(feed.ready).toBe(12)
    expect([feed.failure, feed.pictureFailure]).toEqual([undefined, 'no memory'])
  })

  it('is waited for a few frames at most', () => {
    feed.accompany([picture], PATIENCE)
    make(pictures, 192)
    pictures.woken(12, false)
    required.woken(13, false)
    expect(feed.ready).toBe(12)
    required.woken(20, false)
    expect(feed.ready).toBe(17)
  })

  it('is there from the first frame on if it was asked for before the source began', () => {
    reached = 0
    feed.accompany([picture], Number.POSITIVE_INFINITY)
    reached = 11
    expect(feed.ready).toBe(0)
    pictures.woken(11, false)
    expect(feed.ready).toBe(11)
  })

  it('neither restarts nor interrupts the feed by coming, and frees its ring by going', () => {
    restarts = 0
    feed.takeDiscontinuity(11)
    feed.accompany([picture], PATIENCE)
    make(pictures, 192)
    pictures.woken(11, true)
    expect(feed.ringOf(picture)).toEqual(pictures.place)
    expect([restarts, feed.takeDiscontinuity(12)]).toEqual([0, false])
    feed.accompany([], PATIENCE)
    expect(pictures.feeds.size).toBe(0)
    expect(feed.ringOf(picture)).toBeUndefined()
  })

  it('is the view that the elements read where that is the same', () => {
    feed.accompany([read], PATIENCE)
    feed.accompany([], PATIENCE)
    expect([...required.feeds]).toEqual([feed])
  })
})

describe('an interruption', () => {
  it('is told once, also where the ring tells of its frame before the wake-up does', () => {
    expect(feed.takeDiscontinuity(11)).toBe(true)
    required.woken(11, true)
    expect(feed.takeDiscontinuity(12)).toBe(false)
    required.woken(13, true)
    expect(feed.takeDiscontinuity(13)).toBe(true)
  })
})
