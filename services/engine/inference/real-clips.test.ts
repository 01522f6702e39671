// @module-tag long

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DetectedObject } from '@eyrie/element'
import { createStream } from '@eyrie/element/testing'
import { createLog } from '@eyrie/kit'
import { addModel, openModelStore, openQuarantine, PUBLISHED_MODELS } from '@eyrie/model-store'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type DecodedFrames, decodeFrames } from '../../../test/fixtures/media/decoded-frames.ts'
import { createTestRing } from '../../../test/fixtures/media/test-ring.ts'
import { needs } from '../../../test/fixtures/requirements/needs.ts'
import { findTestData, requireTestData } from '../../../test/fixtures/requirements/test-data.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { createInference, type InferencePool } from './inference.ts'

const yolox = findTestData('models/yolox_nano.onnx')
const clip = (name: string) => findTestData(`video/${name}.mp4`) ?? ''

const rectangle = { width: 416, height: 256 }
const square = { width: 416, height: 416 }

interface StartedWorkers {
  inference: InferencePool
  /** A folder that the workers may read. */
  folder: string
}

async function startWorkers(): Promise<StartedWorkers> {
  const folder = createTemporaryFolder()
  const root = join(folder, 'models')
  const log = createLog('test', 'silent')
  const { options } = PUBLISHED_MODELS['yolox-nano']!
  await addModel(root, { name: 'yolox-nano', model: readFileSync(yolox!), ...options })
  const models = await openModelStore({ roots: [root], log })
  onTestFinished(models.close)
  const quarantine = openQuarantine(root)
  const inference = await createInference({
    models,
    quarantine,
    folders: [folder],
    log,
    workers: 2,
  })
  onTestFinished(inference.stop)
  return { inference, folder }
}

async function detectOn(
  { inference, folder }: StartedWorkers,
  { width, height, content, pixels }: DecodedFrames,
): Promise<DetectedObject[][]> {
  const path = join(folder, `${width}x${height}.ring`)
  const payloadSize = 3 * width * height
  const ring = createTestRing(path, {
    width,
    height,
    content,
    payloadSize,
    format: 'BGRP',
    slots: pixels.length,
  })
  onTestFinished(ring.close)
  const client = { channel: 1, pacing: 'all' as const, priority: () => 5, findRing: () => ring }
  const detector = await inference
    .forChannel(client)
    .open({ model: 'yolox-nano', hw: 'auto', mode: 'a' })
  return Promise.all(
    pixels.map(async (picture, i) => {
      const frame = createStream(10).next([], { skip: i })
      ring.write(frame.n, picture)
      return (await detector.detect(frame, {})).objects
    }),
  )
}

function overlap(a: DetectedObject, b: DetectedObject): number {
  const side = (start: 'x' | 'y', size: 'w' | 'h') =>
    Math.min(a.bbox[start] + a.bbox[size], b.bbox[start] + b.bbox[size]) -
    Math.max(a.bbox[start], b.bbox[start])
  const both = Math.max(0, side('x', 'w')) * Math.max(0, side('y', 'h'))
  return both / (a.bbox.w * a.bbox.h + b.bbox.w * b.bbox.h - both)
}

describe('YOLOX-nano on real clips', needs(requireTestData('models/yolox_nano.onnx')), () => {
  const size = { width: 768, height: 432 }
  let walking: DecodedFrames
  beforeAll(() => {
    walking = decodeFrames(clip('one-by-one-person-detection'), size, rectangle, '1/4')
  })

  it('detects one upright person at a time in a clip of single passers-by', async () => {
    const found = await detectOn(await startWorkers(), walking)
    const persons = found.map(objects => objects.filter(object => object.class === 'person'))
    expect(Math.max(...persons.map(frame => frame.length))).toBeLessThanOrEqual(2)
    const seen = persons.filter(frame => frame.length === 1)
    expect(seen.length).toBeGreaterThan(found.length / 4)
    for (const { bbox } of persons.flat()) {
      expect(bbox.h * size.height).toBeGreaterThan(bbox.w * size.width * 0.8)
      expect(bbox.y + bbox.h).toBeLessThan(1.1)
    }
  })

  it('detects cars in traffic without duplicates', async () => {
    const traffic = decodeFrames(clip('traffic'), { width: 640, height: 360 }, rectangle, '1/2')
    const found = await detectOn(await startWorkers(), traffic)
    const vehicles = found.map(frame =>
      frame.filter(object => ['car', 'truck', 'bus'].includes(object.class)),
    )
    expect(vehicles.filter(frame => frame.length >= 2).length).toBeGreaterThan(found.length / 2)
    for (const frame of vehicles) {
      for (const [i, one] of frame.entries()) {
        for (const other of frame.slice(i + 1)) expect(overlap(one, other)).toBeLessThanOrEqual(0.3)
      }
    }
  })

  it('detects the same persons with a rectangular input as with a square one', async () => {
    const workers = await startWorkers()
    const squared = decodeFrames(clip('one-by-one-person-detection'), size, square, '1/4')
    const [flat, full] = [await detectOn(workers, walking), await detectOn(workers, squared)]
    const clear = flat.flatMap((frame, i) =>
      frame
        .filter(object => object.class === 'person' && object.score > 0.6)
        .map(object =>
          full[i]!.some(other => other.class === 'person' && overlap(object, other) > 0.7),
        ),
    )
    expect(clear.length).toBeGreaterThan(3)
    expect(clear.filter(Boolean).length / clear.length).toBeGreaterThan(0.9)
  })
})
