import type { DetectedObject, Element, Picture } from '@eyrie/element'
import { createRandom, createStream, openElement } from '@eyrie/element/testing'
import { afterEach, describe, expect, it } from 'vitest'
import plugin from './element.ts'
import { cv } from './opencv.ts'

const width = 320
const height = 180

interface Square {
  x: number
  y: number
  size: number
  grey?: number
}

let opened: Element[] = []
afterEach(() => {
  for (const element of opened) element.close?.()
  opened = []
})

/** Simulates a camera over a chequered floor with slight, reproducible noise. */
function createCamera({ light = 0, tile = 20, scale = 1 } = {}) {
  const { uniform } = createRandom(1)
  const size = { width: width * scale, height: height * scale }
  return {
    light,
    show(squares: Square[] = []): Picture {
      const data = new Uint8Array(size.width * size.height)
      for (let y = 0; y < size.height; y++) {
        for (let x = 0; x < size.width; x++) {
          const floor = (Math.floor(x / tile) + Math.floor(y / tile)) % 2 === 0 ? 90 : 110
          const square = squares.find(
            s => x >= s.x && x < s.x + s.size && y >= s.y && y < s.y + s.size,
          )
          data[y * size.width + x] =
            (square ? (square.grey ?? 220) : floor) + this.light + 6 * (uniform() - 0.5)
        }
      }
      return { ...size, format: 'GRAY8', data, content: { x: 0, y: 0, ...size } }
    },
  }
}

/** Opens the element and shows it an empty floor for 30 frames. */
async function openOverEmptyFloor(args: object = {}, camera = createCamera()) {
  const element = await openElement(plugin.motion, { args })
  opened.push(element)
  const stream = createStream(10)
  const processNext = async (squares: Square[] = [], options = {}): Promise<DetectedObject[]> =>
    (await element.process(stream.next([], options), camera.show(squares))).objects ?? []
  for (let i = 0; i < 30; i++) expect(await processNext()).toEqual([])
  return { element, camera, processNext }
}

describe('motion', () => {
  it('returns a moving region as an object of class motion', async () => {
    const { processNext } = await openOverEmptyFloor()
    for (const x of [40, 50, 60]) {
      const objects = await processNext([{ x, y: 80, size: 30 }])
      expect(objects).toHaveLength(1)
      const { class: label, score, bbox } = objects[0]!
      expect(label).toBe('motion')
      expect(score).toBeGreaterThan(0.8)
      expect(Math.abs(bbox.x * width - x)).toBeLessThan(4)
      expect(Math.abs(bbox.y * height - 80)).toBeLessThan(4)
      expect(Math.abs(bbox.w * width - 30)).toBeLessThan(7)
      expect(Math.abs(bbox.h * height - 30)).toBeLessThan(7)
    }
  })

  it('merges adjacent regions into one object', async () => {
    const { processNext } = await openOverEmptyFloor()
    const near = [
      { x: 40, y: 40, size: 20 },
      { x: 40, y: 63, size: 20 },
    ]
    expect(await processNext(near)).toHaveLength(1)
    expect(await processNext([...near, { x: 200, y: 60, size: 20 }])).toHaveLength(2)
  })

  it('ignores regions smaller than `min_area`', async () => {
    const square = { x: 40, y: 40, size: 20 }
    const share = (square.size * square.size) / (width * height)
    expect(
      await (await openOverEmptyFloor({ min_area: share / 2 })).processNext([square]),
    ).toHaveLength(1)
    expect(
      await (await openOverEmptyFloor({ min_area: share * 2 })).processNext([square]),
    ).toHaveLength(0)
  })

  it('ignores low contrast with a higher `threshold`', async () => {
    const faint = { x: 45, y: 45, size: 10, grey: 120 }
    expect(
      await (await openOverEmptyFloor({ threshold: 16, min_area: 0.001 })).processNext([faint]),
    ).toHaveLength(1)
    expect(
      await (await openOverEmptyFloor({ threshold: 400, min_area: 0.001 })).processNext([faint]),
    ).toHaveLength(0)
  })

  it('absorbs still objects into the background, faster with a shorter `history`', async () => {
    const framesUntilStill = async (history: number) => {
      const { processNext } = await openOverEmptyFloor({ history })
      for (let frames = 0; frames < 200; frames++) {
        if ((await processNext([{ x: 40, y: 40, size: 30 }])).length === 0) return frames
      }
      throw new Error('the square did not become background')
    }
    const short = await framesUntilStill(30)
    expect(short).toBeGreaterThan(0)
    expect(await framesUntilStill(300)).toBeGreaterThan(short)
  })

  it('works with any `history`', async () => {
    for (const history of [2 ** 31 - 1, Number.MAX_SAFE_INTEGER]) {
      const { processNext } = await openOverEmptyFloor({ history })
      expect(await processNext([{ x: 40, y: 80, size: 30 }])).toHaveLength(1)
    }
  })

  it('resets the background at a discontinuity', async () => {
    const { element, processNext } = await openOverEmptyFloor()
    const stream = createStream(10)
    const elsewhere = createCamera({ tile: 33 })
    for (let i = 0; i < 10; i++) {
      const frame = stream.next([], { discontinuity: i === 0 })
      expect(
        (await element.process(frame, elsewhere.show([{ x: 60, y: 60, size: 40 }]))).objects,
      ).toEqual([])
    }
    expect(await processNext([], { discontinuity: true })).toEqual([])
  })

  it('ignores a light that is switched on and then detects motion again', async () => {
    const { camera, processNext } = await openOverEmptyFloor()
    camera.light = 60
    for (let i = 0; i < 10; i++) expect(await processNext()).toEqual([])
    expect(await processNext([{ x: 40, y: 80, size: 30 }])).toHaveLength(1)
  })

  it('restarts when the size of the source changes', async () => {
    const { element } = await openOverEmptyFloor()
    const larger = createCamera({ scale: 2 })
    const stream = createStream(10)
    for (let i = 0; i < 10; i++) {
      expect((await element.process(stream.next(), larger.show())).objects).toEqual([])
    }
    const { objects } = await element.process(
      stream.next(),
      larger.show([{ x: 160, y: 90, size: 60 }]),
    )
    expect(objects).toHaveLength(1)
    expect(objects![0]!.bbox.x).toBeCloseTo(0.25, 1)
  })

  it('retains the objects of the frame', async () => {
    const { element, camera } = await openOverEmptyFloor()
    const person = { class: 'person', score: 0.9, bbox: { x: 0.1, y: 0.1, w: 0.1, h: 0.2 } }
    const frame = createStream(10).next([person])
    expect((await element.process(frame, camera.show())).objects).toEqual([person])
  })

  it('requests a grey picture 640 pixels wide, or of the size of a preceding image-resize', async () => {
    const view = async (size?: { width: number; height: number } | { scale: number }) => {
      const element = await openElement(plugin.motion, { size })
      opened.push(element)
      return element.view
    }
    expect(await view()).toMatchObject({ width: 640, format: 'GRAY8', letterbox: false })
    expect(await view({ scale: 0.5 })).toMatchObject({ scale: 0.5, format: 'GRAY8' })
    expect(await view({ scale: 0.5 })).not.toHaveProperty('width')
  })

  it('releases all memory when closed', async () => {
    const picture = createCamera({ scale: 2 }).show()
    const openAndClose = async (times: number) => {
      for (let i = 0; i < times; i++) {
        const element = await openElement(plugin.motion)
        const stream = createStream(10)
        for (let n = 0; n < 2; n++) await element.process(stream.next(), picture)
        element.close?.()
      }
      return (cv as unknown as { HEAP8: Int8Array }).HEAP8.length
    }
    const initial = await openAndClose(3)
    expect(await openAndClose(100)).toBe(initial)
  })

  it.each([{ min_area: -0.1 }, { min_area: 1.1 }, { history: 0 }, { threshold: 0 }, { area: 1 }])(
    'rejects %o',
    args => {
      expect(plugin.motion.args.safeParse(args).success).toBe(false)
    },
  )
})
