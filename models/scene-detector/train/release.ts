/** Puts an exported detector in its place and writes the model.json that vouches for it: node release.ts model.onnx */
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type ModelCard, modelCard } from '@eyrie/contract/model'

const [exported] = process.argv.slice(2)
if (!exported) throw new Error('Say which file to release: node release.ts model.onnx')
const place = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url))
const model = await readFile(exported)
const card: ModelCard = modelCard.parse({
  name: 'scene-detector',
  task: 'detect',
  head: 'decoded',
  labels: ['person', 'car'],
  input: {
    name: 'frame',
    layout: 'nchw',
    color: 'rgb',
    dtype: 'uint8',
    width: 768,
    height: 448,
    dynamic: true,
    multiple_of: 32,
    fill: 114,
  },
  license: 'Apache-2.0',
  source: 'models/scene-detector',
  sha256: createHash('sha256').update(model).digest('hex'),
})
await writeFile(place('model.onnx'), model)
await writeFile(place('model.json'), `${JSON.stringify(card, null, 2)}\n`)
await writeFile(place('labels.txt'), `${card.labels.join('\n')}\n`)
