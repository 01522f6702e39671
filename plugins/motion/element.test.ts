import type { DetectedObject, Element, Picture } from '@eyrie/element'
import { createRandom, createStream, openElement } from '@eyrie/element/testing'
import { afterEach, expect, test } from 'vitest'
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

/** A camera over a chequered floor, with a little noise that is the same at each run. */
function createCamera({ light = 0, tile = 20, scale = 1 } = {}) {
  const { uniform } = createRandom(1)
  const size = { width: width * scale, height: height * scale }
  return {
    light,
    show(squares: Square[] = []): Picture {
      const data = new Uint8Array(size.width * size.height)
      for (let y = 0; y < size.height; y++)
        for (let x = 0; x < size.width; x++) {
          const floor = (Math.floor(x / tile) + Math.floor(y / tile)) % 2 === 0 ? 90 : 110
          const square = squares.find(s => x >= s.x && x < s.x + s.size && y >= s.y && y < s.y + s.size)
          data[y * size.width + x] =
            (square ? (square.grey ?? 220) : floor) + this.light + 6 * (uniform() - 0.5)
        }
      return { ...size, format: 'GRAY8', data, content: { x: 0, y: 0, ...size } }
    },
  }
}

/** An element that has seen an empty floor for a while. */
async function watch(args: object = {}, camera = createCamera()) {
  const element = await openElement(plugin.motion, { args })
  opened.push(element)
  const stream = createStream(10)
  const see = async (squares: Square[] = [], options = {}): Promise<DetectedObject[]> =>
    (await element.process(stream.next([], options), camera.show(squares))).objects ?? []
  for (let i = 0; i < 30; i++) expect(await see()).toEqual([])
  return { element, camera, see }
}

test('what moves is an object of class motion, in its place', async () => {
  const { see } = await watch()
  for (const x of [40, 50, 60]) {
    const objects = await see([{ x, y: 80, size: 30 }])
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

test('parts that are close together are one object, others each their own', async () => {
  const { see } = await watch()
  const near = [
    { x: 40, y: 40, size: 20 },
    { x: 40, y: 63, size: 20 },
  ]
  expect(await see(near)).toHaveLength(1)
  expect(await see([...near, { x: 200, y: 60, size: 20 }])).toHaveLength(2)
})

test('less than `min_area` of the picture is not worth an object', async () => {
  const square = { x: 40, y: 40, size: 20 }
  const share = (square.size * square.size) / (width * height)
  expect(await (await watch({ min_area: share / 2 })).see([square])).toHaveLength(1)
  expect(await (await watch({ min_area: share * 2 })).see([square])).toHaveLength(0)
})

test('a higher `threshold` overlooks what hardly differs from the background', async () => {
  const faint = { x: 45, y: 45, size: 10, grey: 120 }
  expect(await (await watch({ threshold: 16, min_area: 0.001 })).see([faint])).toHaveLength(1)
  expect(await (await watch({ threshold: 400, min_area: 0.001 })).see([faint])).toHaveLength(0)
})

test('what stays becomes background, the sooner the shorter the `history`', async () => {
  const framesUntilStill = async (history: number) => {
    const { see } = await watch({ history })
    for (let frames = 0; frames < 200; frames++)
      if ((await see([{ x: 40, y: 40, size: 30 }])).length === 0) return frames
    throw new Error('it never became background')
  }
  const short = await framesUntilStill(30)
  expect(short).toBeGreaterThan(0)
  expect(await framesUntilStill(300)).toBeGreaterThan(short)
})

test('after an interruption another view is background at once', async () => {
  const { element, see } = await watch()
  const stream = createStream(10)
  const elsewhere = createCamera({ tile: 33 })
  for (let i = 0; i < 10; i++) {
    const frame = stream.next([], { discontinuity: i === 0 })
    expect((await element.process(frame, elsewhere.show([{ x: 60, y: 60, size: 40 }]))).objects).toEqual([])
  }
  expect(await see([], { discontinuity: true })).toEqual([])
})

test('a light switched on is no motion, and what moves in it is seen soon', async () => {
  const { camera, see } = await watch()
  camera.light = 60
  for (let i = 0; i < 10; i++) expect(await see()).toEqual([])
  expect(await see([{ x: 40, y: 80, size: 30 }])).toHaveLength(1)
})

test('a source that changes its size is looked at anew', async () => {
  const { element } = await watch()
  const larger = createCamera({ scale: 2 })
  const stream = createStream(10)
  for (let i = 0; i < 10; i++)
    expect((await element.process(stream.next(), larger.show())).objects).toEqual([])
  const { objects } = await element.process(stream.next(), larger.show([{ x: 160, y: 90, size: 60 }]))
  expect(objects).toHaveLength(1)
  expect(objects![0]!.bbox.x).toBeCloseTo(0.25, 1)
})

test('objects found before are handed on', async () => {
  const { element, camera } = await watch()
  const person = { class: 'person', score: 0.9, bbox: { x: 0.1, y: 0.1, w: 0.1, h: 0.2 } }
  const frame = createStream(10).next([person])
  expect((await element.process(frame, camera.show())).objects).toEqual([person])
})

test('it reads a grey picture 640 wide, or of the size that an image-resize before it asked for', async () => {
  const view = async (size?: { width: number; height: number } | { scale: number }) => {
    const element = await openElement(plugin.motion, { size })
    opened.push(element)
    return element.view
  }
  expect(await view()).toMatchObject({ width: 640, format: 'GRAY8', letterbox: false })
  expect(await view({ scale: 0.5 })).toMatchObject({ scale: 0.5, format: 'GRAY8' })
  expect(await view({ scale: 0.5 })).not.toHaveProperty('width')
})

test('closing gives all memory back', async () => {
  const picture = createCamera({ scale: 2 }).show()
  const use = async (times: number) => {
    for (let i = 0; i < times; i++) {
      const element = await openElement(plugin.motion)
      const stream = createStream(10)
      for (let n = 0; n < 2; n++) await element.process(stream.next(), picture)
      element.close?.()
    }
    return (cv as unknown as { HEAP8: Int8Array }).HEAP8.length
  }
  const atFirst = await use(3)
  expect(await use(100)).toBe(atFirst)
})

test.each([{ min_area: -0.1 }, { min_area: 1.1 }, { history: 0 }, { threshold: 0 }, { area: 1 }])(
  'refuses %o',
  args => {
    expect(plugin.motion.args.safeParse(args).success).toBe(false)
  },
)
