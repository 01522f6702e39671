import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { Pipeline, Ring } from '../../media/node-gst/index.ts'
import { RingReader } from './ring-reader.ts'

const SLOTS = 4
const FRAMES = 10

let folder: string
let ring: Ring
let reader: RingReader

/** Writes frames 1 to `FRAMES` of 8x6 grey, each a flat picture, inside 8x8. */
async function writeFrames(path: string) {
  ring = new Ring({
    path,
    slots: SLOTS,
    width: 8,
    height: 8,
    format: 'GRAY8',
    content: { x: 0, y: 1, width: 8, height: 6 },
    fill: [7],
    generation: 3,
    epoch: 1234,
    sourceWidth: 80,
    sourceHeight: 60,
  })
  const done = Promise.withResolvers<void>()
  const pipeline = new Pipeline(
    `videotestsrc num-buffers=${FRAMES} pattern=solid-color foreground-color=0xff808080 ` +
      '! video/x-raw,format=GRAY8,width=8,height=6,framerate=10/1 ! identity name=numbered ' +
      '! appsink name=out sync=false',
    message => {
      if (message.type === 'eos') done.resolve()
      if (message.type === 'error') done.reject(message.error)
    },
  )
  pipeline.setTimeline({ ptsOffset: 90, timeAnchorUs: 5_000_000 })
  pipeline.number('numbered', 'src')
  pipeline.toRing('out', ring, () => {})
  await pipeline.setState('playing')
  await done.promise
  await pipeline.dispose()
}

beforeEach(async () => {
  folder = createTemporaryFolder()
  await writeFrames(join(folder, 'view.ring'))
  reader = new RingReader(join(folder, 'view.ring'))
})

afterEach(() => {
  reader.close()
  ring.close()
})

describe('ring reader', () => {
  it('reads the shape of the ring', () => {
    expect(reader.shape).toEqual({
      slots: SLOTS,
      width: 8,
      height: 8,
      format: 'GRAY8',
      payloadSize: 64,
      generation: 3,
      epoch: 1234,
      sourceWidth: 80,
      sourceHeight: 60,
      content: { x: 0, y: 1, width: 8, height: 6 },
    })
  })

  it('reads the number of the newest frame', () => {
    expect(reader.newest()).toBe(FRAMES)
  })

  it('copies a frame with its padding and returns its metadata', () => {
    const picture = new Uint8Array(64)
    const stamp = reader.read(FRAMES, picture)
    const tenthsBefore = FRAMES - 1
    expect(stamp).toEqual({
      n: FRAMES,
      pts: 90 + tenthsBefore * 9000,
      time: 5_000_000 + tenthsBefore * 100_000,
      discontinuity: false,
      width: 80,
      height: 60,
      bytes: 64,
    })
    expect([...picture.subarray(0, 8)]).toEqual(Array(8).fill(7))
    expect(new Set(picture.subarray(8, 56)).size).toBe(1)
    expect([...picture.subarray(56)]).toEqual(Array(8).fill(7))
  })

  it('reads exactly the frames that the ring still holds', () => {
    const picture = new Uint8Array(64)
    const read = Array.from({ length: FRAMES + 2 }, (_, i) => reader.read(i + 1, picture))
    const numbers = read.flatMap(stamp => (stamp === 'overwritten' ? [] : stamp.n))
    expect(numbers).toEqual([7, 8, 9, 10])
  })

  it('continues after the ring is removed', () => {
    ring.close()
    expect(reader.readStamp(FRAMES)).not.toBe('overwritten')
  })

  it('rejects a file that is not a ring', () => {
    const path = join(folder, 'other')
    writeFileSync(path, 'not a ring')
    expect(() => new RingReader(path)).toThrow(`${path} is not a frame ring`)
  })
})
