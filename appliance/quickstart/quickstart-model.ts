import { readFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { ModelCard } from '@eyrie/contract'
import {
  addModel,
  cocoLabels,
  cocoSuppressTogether,
  download,
  parseLabels,
  publishedModels,
  scanModels,
  shippedModels,
} from '@eyrie/model-store'
import type { LogFields } from '../process/service-log.ts'

/** The detector that ships with Eyrie. It is trained on the people and cars of the demo scene. */
export const sceneDetector = 'scene-detector'

/**
 * Resolves `MODEL=` to the name of a model in the store: an existing name, a published model or an ONNX file, which are
 * added to the store. Throws an `Error` that lists the known models.
 */
export async function provideModel(
  requested: string | undefined,
  isScene: boolean,
  data: string,
  report: (message: string, fields: LogFields) => void,
): Promise<string> {
  const root = join(data, 'models')
  const { models } = await scanModels([root, shippedModels])
  if (requested === undefined) {
    const ownModel = [...models.keys()].find(name => name !== sceneDetector)
    return isScene ? sceneDetector : (ownModel ?? sceneDetector)
  }
  if (models.has(requested)) return requested
  if (requested.endsWith('.onnx')) return addModelFile(root, resolve(requested), report)
  const published = publishedModels[requested]
  if (!published) {
    const known = [...models.keys(), ...Object.keys(publishedModels)].join(', ')
    throw new Error(`MODEL=${requested}: unknown model. Use one of ${known}, or the path of an .onnx file`)
  }
  report('downloading model', { url: published.url })
  await addModel(root, { name: requested, model: await download(published), ...published.options })
  return requested
}

/** Adds an ONNX file under the name of the file, with the first head that matches its output. */
async function addModelFile(
  root: string,
  file: string,
  report: (message: string, fields: LogFields) => void,
): Promise<string> {
  const model = await readFile(file).catch(() => {
    throw new Error(`MODEL: ${file} does not exist`)
  })
  const name = basename(file, '.onnx')
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
  const labels = await findLabels(file)
  const heads: ModelCard['head'][] = ['yolox', 'nms', 'decoded']
  const reasons: string[] = []
  for (const head of heads) {
    const facts = {
      head,
      labels: labels ?? [...cocoLabels],
      suppress_together: labels ? [] : cocoSuppressTogether,
    }
    const color = head === 'yolox' ? 'bgr' : 'rgb'
    try {
      await addModel(root, { name, model, ...facts, color, license: 'not stated', source: file })
      report('added model', { model: name, head, labels: labels ? 'from file' : 'COCO' })
      return name
    } catch (error) {
      reasons.push((error as Error).message)
    }
  }
  throw new Error(`MODEL=${file}: ${reasons[0]} (use eyrie model add to specify its properties)`)
}

/** Reads the labels next to a model: `<name>.txt` or `labels.txt`. */
async function findLabels(modelFile: string): Promise<string[] | undefined> {
  for (const name of [`${basename(modelFile, '.onnx')}.txt`, 'labels.txt']) {
    const text = await readFile(join(dirname(modelFile), name), 'utf8').catch(() => undefined)
    if (text !== undefined) return parseLabels(text)
  }
  return undefined
}
