import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { modelCard } from '@eyrie/contract/model'
import { openSession } from '@eyrie/model-store/session'
import { type InferenceSession, Tensor } from 'onnxruntime-node'
import { beforeAll, describe, expect, it } from 'vitest'
import { createBackdrop, Scene } from '../../scene/picture/scene.ts'

const path = (name: string): string => `${import.meta.dirname}/${name}`
const card = modelCard.parse(JSON.parse(readFileSync(path('model.json'), 'utf8')))

let session: InferenceSession
beforeAll(async () => {
  session = await openSession(readFileSync(path('model.onnx')))
})

/** Runs the model on planar RGB. Returns rows of cx, cy, w, h, objectness and class scores. */
async function detect(planes: Uint8Array, width: number, height: number): Promise<number[][]> {
  const { detections } = await session.run({
    frame: new Tensor('uint8', planes, [1, 3, height, width]),
  })
  const [, rows, columns] = detections!.dims as [number, number, number]
  const data = Array.from(detections!.data as Float32Array)
  return Array.from({ length: rows }, (_, i) => data.slice(i * columns, (i + 1) * columns))
}

describe('scene-detector', () => {
  it('matches the checksum and the labels of its model card', () => {
    expect(
      createHash('sha256')
        .update(readFileSync(path('model.onnx')))
        .digest('hex'),
    ).toBe(card.sha256)
    expect(readFileSync(path('labels.txt'), 'utf8').trim().split('\n')).toEqual(card.labels)
    expect(statSync(path('model.onnx')).size).toBeLessThan(5e6)
  })

  it.each([
    [card.input.width, card.input.height],
    [416, 256],
  ])('returns a row for every cell of strides 4, 8 and 16 at %i×%i', async (width, height) => {
    const rows = await detect(new Uint8Array(3 * width * height), width, height)
    const cells = [4, 8, 16].map(stride => (width / stride) * (height / stride))
    expect(rows).toHaveLength(cells[0]! + cells[1]! + cells[2]!)
    expect(rows.every(row => row.length === 5 + card.labels.length && row[4] === 1)).toBe(true)
  })

  it('detects unoccluded cars and people in a scene that was not used in training', async () => {
    const { width, height } = card.input
    const pictureHeight = (width * 9) / 16
    const scene = new Scene({ seed: 901, width, height: pictureHeight, fps: 25 })
    const backdrop = createBackdrop(width, pictureHeight)
    scene.renderBackdrop(backdrop)
    const rgb = new Uint8ClampedArray(width * pictureHeight * 3)
    const objects = scene.paint(backdrop, rgb)
    const planes = new Uint8Array(3 * width * height).fill(card.input.fill)
    for (let i = 0; i < width * pictureHeight; i++) {
      for (let c = 0; c < 3; c++) planes[c * width * height + i] = rgb[i * 3 + c]!
    }
    const rows = await detect(planes, width, height)
    const unoccluded = objects.filter(
      ({ bounds, visibility }) =>
        visibility > 0.9 && bounds.bottom - bounds.top > 35 && bounds.left > 0,
    )
    const detected = unoccluded.filter(({ class: kind, bounds }) => {
      const label = 5 + card.labels.indexOf(kind)
      const [x, y] = [(bounds.left + bounds.right) / 2, (bounds.top + bounds.bottom) / 2]
      const [w, h] = [bounds.right - bounds.left, bounds.bottom - bounds.top]
      return rows.some(
        row => row[label]! > 0.3 && Math.abs(row[0]! - x) < w / 4 && Math.abs(row[1]! - y) < h / 4,
      )
    })
    expect(unoccluded.length).toBeGreaterThan(5)
    expect(detected.length / unoccluded.length).toBeGreaterThan(0.8)
  }, 300_000)
})
