import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Detections, Frame, ModelRequest } from '@eyrie/element'
import { createLog } from '@eyrie/kit'
import { addModel, openModelStore, openQuarantine } from '@eyrie/model-store'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  createBrightCellDetector,
  createConstantDetector,
} from '../../../test/fixtures/engine/detector-models.ts'
import { createTestRing, type TestRing } from '../../../test/fixtures/media/test-ring.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import type { InferenceRun } from './inference.ts'
import { createInference } from './inference.ts'

const size = { width: 64, height: 64 }
const thresholds = { score_threshold: 0.3, iou_threshold: 0.3 }
const request: ModelRequest = { model: 'bright', hw: 'auto', mode: 'a' }
const log = createLog('test', 'silent')

async function setUp({ workers = 2 } = {}) {
  const spent: [InferenceRun, number][] = []
  const costs = { recordInference: (run: InferenceRun, ms: number) => void spent.push([run, ms]) }
  const folder = createTemporaryFolder()
  const root = join(folder, 'models')
  const facts = { head: 'yolox', labels: ['bright'], license: 'MIT' } as const
  const { card } = await addModel(root, {
    name: 'bright',
    ...facts,
    labels: ['bright'],
    model: createBrightCellDetector(size),
  })

  const models = await openModelStore({ roots: [root], log, scanIntervalMs: 20 })
  const quarantine = openQuarantine(root)
  const start = async () => {
    const inference = await createInference({
      models,
      quarantine,
      folders: [folder],
      log,
      workers,
      costs,
    })
    onTestFinished(inference.stop)
    return inference
  }
  onTestFinished(models.close)

  const ring = ringIn(folder)
  const client = { channel: 1, pacing: 'all' as const, priority: () => 5, findRing: () => ring }
  return {
    folder,
    root,
    card,
    models,
    quarantine,
    start,
    inference: await start(),
    ring,
    client,
    spent,
  }
}

function ringIn(folder: string, options: { generation?: number; width?: number } = {}): TestRing {
  const { width = size.width, generation } = options
  const shape = {
    width,
    height: size.height,
    format: 'RGBP',
    payloadSize: 3 * width * size.height,
  } as const
  const ring = createTestRing(join(folder, 'ring'), { ...shape, generation })
  onTestFinished(ring.close)
  return ring
}

/** A dark picture in which the cell of 8 x 8 pixels at this row and column is white. */
function pictureOf(cell: { row: number; column: number }, width = size.width): Uint8Array {
  const plane = new Uint8Array(width * size.height)
  for (let y = 0; y < 8; y++) {
    const at = (cell.row * 8 + y) * width + cell.column * 8
    plane.fill(255, at, at + 8)
  }
  return Buffer.concat([plane, plane, plane])
}

/** The same picture with its colours pixel by pixel; all planes are equal. */
const interleaved = (planes: Uint8Array) =>
  Uint8Array.from(planes, (_, i) => planes[Math.floor(i / 3)]!)

const frame = (n: number): Frame => ({
  n,
  pts: n * 3600,
  time: n * 40_000,
  discontinuity: false,
  width: 16,
  height: 9,
  objects: [],
  lowScoreObjects: [],
  counters: {},
})

/** Of the box of one white cell, in units of cells. */
const cellOf = ({ objects }: Detections) =>
  objects.map(({ bbox }) => ({ row: Math.round(bbox.y * 8), column: Math.round(bbox.x * 8) }))

const isAlive = (pid: number) => existsSync(`/proc/${pid}`)

const openFiles = (pid: number) =>
  readdirSync(`/proc/${pid}/fd`).map(fd => readlinkSync(`/proc/${pid}/fd/${fd}`))

type Workers = Awaited<ReturnType<typeof createInference>>

/** Runs `doing` while the only worker is suspended, then ends that worker by `signal`. */
async function dieDuring<T>(
  inference: Workers,
  signal: NodeJS.Signals,
  doing: () => Promise<T>,
): Promise<T> {
  await vi.waitFor(() => expect(inference.dump()).toHaveLength(1), 5000)
  const { pid } = inference.dump()[0]!
  process.kill(pid, 'SIGSTOP')
  const result = doing()
  for (const next of [signal, 'SIGCONT'] as const) process.kill(pid, next)
  return result
}

describe('inference', () => {
  it('detects objects at their positions', async () => {
    const { inference, ring, client } = await setUp()
    const detector = await inference.forChannel(client).open(request)
    ring.write(1, pictureOf({ row: 3, column: 5 }))
    const { objects } = await detector.detect(frame(1), thresholds)
    const [object, ...others] = objects
    expect(others).toEqual([])
    expect(object).toEqual({
      class: 'bright',
      score: expect.closeTo(1),
      bbox: { x: 5 / 8, y: 3 / 8, w: 1 / 8, h: 1 / 8 },
    })
  })

  it('reports the CPU time of each frame by model, device and size', async () => {
    const { inference, ring, client, card, spent } = await setUp()
    const detector = await inference.forChannel(client).open(request)
    for (const n of [1, 2, 3]) {
      ring.write(n, pictureOf({ row: n, column: n }))
      await detector.detect(frame(n), thresholds)
    }
    const run = { sha256: card.sha256, device: 'cpu', size }
    expect(spent).toEqual([1, 2, 3].map(() => [run, expect.any(Number)]))
    for (const [, ms] of spent) expect(ms).toBeGreaterThan(0)
  })

  it('passes interleaved pixels to a model that expects them', async () => {
    const { inference, client, root, models, folder } = await setUp()
    const model = createBrightCellDetector({ ...size, layout: 'nhwc' })
    await addModel(root, { name: 'rows', head: 'yolox', labels: ['bright'], license: 'MIT', model })
    await vi.waitFor(() => expect(models.get('rows')).toBeDefined(), 2000)
    const path = join(folder, 'interleaved')
    const ring = createTestRing(path, { ...size, format: 'RGB', payloadSize: 3 * 64 * 64 })
    onTestFinished(ring.close)
    const detector = await inference
      .forChannel({ ...client, findRing: () => ring })
      .open({ ...request, model: 'rows' })
    ring.write(1, interleaved(pictureOf({ row: 6, column: 1 })))
    expect(cellOf(await detector.detect(frame(1), thresholds))).toEqual([{ row: 6, column: 1 }])
  })

  it('converts pixels to floats for a model that was imported unchanged', async () => {
    const { inference, ring, client, root, card, models } = await setUp()
    const file = createBrightCellDetector(size)
    const sha256 = createHash('sha256').update(file).digest('hex')
    const input = { ...card.input, name: 'images', dtype: 'float32', dynamic: false }
    mkdirSync(join(root, 'floats'))
    writeFileSync(join(root, 'floats/model.onnx'), file)
    writeFileSync(
      join(root, 'floats/model.json'),
      JSON.stringify({ ...card, name: 'floats', input, sha256 }),
    )
    await vi.waitFor(() => expect(models.get('floats')).toBeDefined(), 2000)
    const detector = await inference.forChannel(client).open({ ...request, model: 'floats' })
    ring.write(1, pictureOf({ row: 6, column: 1 }))
    expect(cellOf(await detector.detect(frame(1), thresholds))).toEqual([{ row: 6, column: 1 }])
  })

  it('asks for a restart if a model is a link that was added while the workers ran', async () => {
    const { inference, client, root, card, models } = await setUp({ workers: 1 })
    const elsewhere = createTemporaryFolder()
    copyFileSync(join(root, 'bright/model.onnx'), join(elsewhere, 'model.onnx'))
    writeFileSync(join(elsewhere, 'model.json'), JSON.stringify({ ...card, name: 'linked' }))
    symlinkSync(elsewhere, join(root, 'linked'))
    await vi.waitFor(() => expect(models.get('linked')).toBeDefined(), 2000)
    const opening = inference.forChannel(client).open({ ...request, model: 'linked' })
    await expect(opening).rejects.toThrow(/inference workers cannot read .*restart Eyrie/)
  })

  it('runs frames in parallel and returns the objects of each frame', async () => {
    const { inference, ring, client } = await setUp()
    const detector = await inference.forChannel(client).open(request)
    const cells = [1, 2, 3, 4].map(n => ({ row: n, column: 7 - n }))
    for (const [i, cell] of cells.entries()) ring.write(i + 1, pictureOf(cell))
    const found = await Promise.all(cells.map((_, i) => detector.detect(frame(i + 1), thresholds)))
    expect(found.map(cellOf)).toEqual(cells.map(cell => [cell]))
  })

  it('rejects a frame that was overwritten or whose ring is missing', async () => {
    const { inference, ring, client, folder } = await setUp()
    const detector = await inference.forChannel(client).open(request)
    for (const n of [1, 2, 3, 4, 5]) ring.write(n, pictureOf({ row: 0, column: 0 }))
    await expect(detector.detect(frame(1), thresholds)).rejects.toMatchObject({
      name: 'FrameDroppedError',
    })

    for (const findRing of [
      () => undefined,
      () => ({ path: join(folder, 'gone'), generation: 1 }),
    ]) {
      const early = await inference.forChannel({ ...client, findRing: findRing }).open(request)
      await expect(early.detect(frame(5), thresholds)).rejects.toMatchObject({
        name: 'FrameDroppedError',
      })
    }
  })

  it('switches to a replaced ring, even if its size differs', async () => {
    const { inference, ring, client, folder } = await setUp({ workers: 1 })
    let current = ring
    const detector = await inference
      .forChannel({ ...client, findRing: () => current })
      .open(request)
    ring.write(1, pictureOf({ row: 0, column: 0 }))
    await detector.detect(frame(1), thresholds)

    current = ringIn(folder, { generation: 2, width: 128 })
    current.write(1, pictureOf({ row: 2, column: 4 }, 128))
    const [object] = (await detector.detect(frame(1), thresholds)).objects
    expect(object?.bbox).toEqual({ x: 4 / 16, y: 2 / 8, w: 1 / 16, h: 1 / 8 })
  })

  it('closes its rings when the detector is closed', async () => {
    const { inference, ring, client } = await setUp({ workers: 1 })
    const detector = await inference.forChannel(client).open(request)
    ring.write(1, pictureOf({ row: 0, column: 0 }))
    await detector.detect(frame(1), thresholds)
    const [worker] = inference.dump()
    const open = () => openFiles(worker!.pid).filter(path => path.startsWith(ring.path))
    expect(open()).toHaveLength(1)
    detector.close()
    await vi.waitFor(() => expect(open()).toEqual([]), 5000)
  })

  it('rejects a ring that does not match the model', async () => {
    const { inference, client, folder } = await setUp()
    const ring = ringIn(folder, { generation: 3, width: 72 })
    const detector = await inference.forChannel({ ...client, findRing: () => ring }).open(request)
    ring.write(1, new Uint8Array(3 * 72 * 64))
    await expect(detector.detect(frame(1), thresholds)).rejects.toThrow(
      /model bright: .*72x64.*multiples of 32/,
    )
  })
})

describe('models on the workers', () => {
  it('are listed while a detector uses them', async () => {
    const { inference, client } = await setUp()
    expect(inference.devices()).toEqual([{ type: 'cpu', current_models: 0, isolation: 'full' }])
    const detectors = [
      await inference.forChannel(client).open(request),
      await inference.forChannel(client).open(request),
    ]
    expect(inference.devices()).toEqual([{ type: 'cpu', current_models: 1, isolation: 'full' }])
    expect(inference.loadedModels()).toEqual(['bright'])
    for (const detector of detectors) detector.close()
    expect(inference.loadedModels()).toEqual([])
  })

  it('are replaced without losing a frame if the replacement reads the same view', async () => {
    const { inference, client, ring, root } = await setUp()
    const put = (head: 'yolox' | 'decoded', label: string, model: Uint8Array) =>
      addModel(root, { name: 'bright', head, labels: [label], license: 'MIT', model })
    const detector = await inference.forChannel(client).open(request)
    ring.write(1, pictureOf({ row: 1, column: 1 }))
    const seen = new Set<string>()
    const look = async () =>
      seen.add((await detector.detect(frame(1), thresholds)).objects[0]!.class)
    await look()
    await put('yolox', 'shine', createBrightCellDetector({ ...size, shapes: 'nodes' }))
    await vi.waitUntil(async () => (await look()).has('shine'), 10_000)
    expect([...seen, inference.devices()]).toEqual([
      'bright',
      'shine',
      [{ type: 'cpu', current_models: 1, isolation: 'full' }],
    ])

    await put(
      'decoded',
      'always',
      createConstantDetector(size, [1, 1, 6], [32, 32, 64, 64, 0.9, 1]),
    )
    await vi.waitFor(() => expect(look()).rejects.toThrow('one that reads another picture'), 10_000)
  })

  it('are loaded in advance, while a spare worker makes up for the one that loads', async () => {
    const { inference, client, ring, root, models } = await setUp({ workers: 1 })
    const detector = await inference.forChannel(client).open(request)
    ring.write(1, pictureOf({ row: 1, column: 1 }))
    const model = createBrightCellDetector({ ...size, shapes: 'nodes' })
    await addModel(root, { name: 'other', head: 'yolox', labels: ['other'], license: 'MIT', model })
    await vi.waitFor(() => expect(models.get('other')).toBeDefined(), 5000)
    const { pid } = inference.dump()[0]!
    process.kill(pid, 'SIGSTOP')
    const loading = inference.preload(models.get('other')!, 'bright')
    await vi.waitFor(() => expect(inference.dump()).toHaveLength(2), 10_000)
    // Frames do not wait for the worker that loads the model.
    expect(cellOf(await detector.detect(frame(1), thresholds))).toEqual([{ row: 1, column: 1 }])
    process.kill(pid, 'SIGCONT')
    const release = await loading
    expect([inference.loadedModels(), inference.dump().length]).toEqual([['bright', 'other'], 2])
    await release()
    await vi.waitFor(() => expect(inference.dump()).toHaveLength(1), 5000)
    expect(inference.loadedModels()).toEqual(['bright'])
    expect(cellOf(await detector.detect(frame(1), thresholds))).toEqual([{ row: 1, column: 1 }])
  })

  it('are rejected if they are missing or broken, or if the device is missing', async () => {
    const { inference, client, root, card } = await setUp()
    const open = (more: Partial<ModelRequest>) =>
      inference.forChannel(client).open({ ...request, ...more })
    await expect(open({ model: 'other' })).rejects.toThrow(/no model other.*eyrie model add/)
    await expect(open({ hw: 'igpu' })).rejects.toThrow(/no igpu.*available: cpu/)

    const file = join(root, card.name, 'model.onnx')
    writeFileSync(file, readFileSync(file).subarray(0, 100))
    await expect(open({})).rejects.toThrow(/model bright: .*not the file.*add the model again/)
  })
})

describe('worker that exits', () => {
  it('is replaced, and later frames are processed', async () => {
    const { inference, ring, client, quarantine, card } = await setUp({ workers: 1 })
    const detector = await inference.forChannel(client).open(request)
    ring.write(1, pictureOf({ row: 2, column: 2 }))
    const detect = () => detector.detect(frame(1), thresholds)
    await expect(dieDuring(inference, 'SIGKILL', detect)).rejects.toMatchObject({
      name: 'FrameDroppedError',
    })
    expect(cellOf(await detect())).toEqual([{ row: 2, column: 2 }])
    expect(quarantine.findCrashes(card.sha256)).toBeUndefined()
  })

  it('puts a model in quarantine after the second crash until the model is replaced', async () => {
    const { inference, ring, client, root, start } = await setUp({ workers: 1 })
    ring.write(1, pictureOf({ row: 2, column: 2 }))
    const open = () => inference.forChannel(client).open(request)
    await expect(dieDuring(inference, 'SIGSEGV', open)).rejects.toThrow(
      'crashed its inference worker (SIGSEGV on load)',
    )

    const held = await vi.waitFor(open, 5000)
    const running = dieDuring(inference, 'SIGSEGV', () => held.detect(frame(1), thresholds))
    await expect(running).rejects.toThrow(
      /in quarantine: it crashed its worker 2 times \(SIGSEGV on run\)/,
    )
    await expect(held.detect(frame(2), thresholds)).rejects.toThrow(/in quarantine/)
    await expect(open()).rejects.toThrow(/in quarantine.*eyrie model remove bright/)
    await expect((await start()).forChannel(client).open(request)).rejects.toThrow(/in quarantine/)

    await addModel(root, {
      name: 'bright',
      head: 'yolox',
      labels: ['bright'],
      license: 'MIT',
      model: createBrightCellDetector(size),
    })
    const detector = await vi.waitFor(open, 5000)
    expect(cellOf(await detector.detect(frame(1), thresholds))).toEqual([{ row: 2, column: 2 }])
  })

  it('leaves no process behind after a stop', async () => {
    const { inference } = await setUp()
    const pids = inference.dump().map(({ pid }) => pid)
    expect(pids.every(isAlive)).toBe(true)
    await inference.stop()
    expect(pids.some(isAlive)).toBe(false)
  })
})
