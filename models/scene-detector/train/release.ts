/**
 * Installs an exported detector and writes its model card with the checksum: node
 * release.ts model.onnx
 */
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type ModelCard, modelCard } from '@eyrie/contract/model'

const [exported] = process.argv.slice(2)
if (!exported) throw new Error('the model file is missing: node release.ts model.onnx')
const resolvePath = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url))
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
await writeFile(resolvePath('model.onnx'), model)
await writeFile(resolvePath('model.json'), `${JSON.stringify(card, null, 2)}\n`)
await writeFile(resolvePath('labels.txt'), `${card.labels.join('\n')}\n`)
