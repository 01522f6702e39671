import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { modelCard } from '@eyrie/contract/model'
import { modelProto, tensorProto } from '@eyrie/model-store/onnx/schema'
import { expect, onTestFinished, test } from 'vitest'
import { createBrightCellDetector } from '../../../test/fixtures/engine/detector-models.ts'
import { createTestRing } from '../../../test/fixtures/media/test-ring.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { RingReader } from '../frames/ring-reader.ts'
import { openModelSession } from './model-session.ts'

const size = { width: 64, height: 64 }
const pixels = size.width * size.height

/** How bright a picture is on average, as a model of floats sees it whose card has this `input`. */
async function brightnessOf(picture: Uint8Array, input: object): Promise<number | undefined> {
  const folder = createTemporaryFolder()
  const [file, path] = [join(folder, 'model.onnx'), join(folder, 'ring')]
  const model = createBrightCellDetector(size)
  writeFileSync(file, model)
  const card = modelCard.parse({
    ...{ name: 'floats', task: 'detect', head: 'yolox', labels: ['bright'], license: 'MIT' },
    input: { name: 'images', layout: 'nchw', color: 'rgb', dtype: 'float32', ...size, ...input },
    sha256: createHash('sha256').update(model).digest('hex'),
  })
  const loaded = await openModelSession(card, file, 'cpu')
  const ring = createTestRing(path, { ...size, format: 'RGBP', payloadSize: picture.length })
  const reader = new RingReader(path)
  onTestFinished(async () => {
    reader.close()
    ring.close()
    await loaded.close()
  })
  ring.write(1, picture)
  const found = await loaded.detect(reader, 1, { score_threshold: 0.01, iou_threshold: 0.3 })
  return found === 'overwritten' ? undefined : found.objects[0]!.score
}

test('a model with float input receives pixels normalized as (value · scale − mean) / std for each colour', async () => {
  const [red, green, blue] = [200, 100, 40]
  const picture = Buffer.concat([red, green, blue].map(value => Buffer.alloc(pixels, value)))
  expect(await brightnessOf(picture, {})).toBeCloseTo((red + green + blue) / 3 / 255, 4)
  const normalization = { scale: 0.5, mean: [10, 20, 5], std: [1, 2, 3] }
  const expected =
    [(100 - 10) / 1, (50 - 20) / 2, (20 - 5) / 3].reduce((sum, value) => sum + value) / 3 / 255
  expect(await brightnessOf(picture, normalization)).toBeCloseTo(expected, 4)
})

test('a model whose weights are in another file is not loaded, even if its card matches', async () => {
  const file = join(createTemporaryFolder(), 'model.onnx')
  const { graph, ...rest } = modelProto.decode(createBrightCellDetector(size))
  const external = tensorProto.create({ name: 'weights', dims: [1n], dataType: 1, dataLocation: 1 })
  const model = modelProto.encode({
    ...rest,
    graph: { ...graph!, initializers: [...graph!.initializers, external] },
  })
  writeFileSync(file, model)
  const card = modelCard.parse({
    ...{ name: 'hostile', task: 'detect', head: 'yolox', labels: ['bright'], license: 'MIT' },
    input: { name: 'images', layout: 'nchw', color: 'rgb', dtype: 'float32', ...size },
    sha256: createHash('sha256').update(model).digest('hex'),
  })
  await expect(openModelSession(card, file, 'cpu')).rejects.toThrow(
    'its weights are in another file',
  )
})
