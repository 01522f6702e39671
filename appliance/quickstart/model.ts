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

/** The detector that comes with Eyrie; it knows the people and cars of the rendered scene. */
export const sceneDetector = 'scene-detector'

/**
 * The name of the model that `MODEL=` asks for, added to the store where it is not there yet: a name, a published model,
 * or an ONNX file. Throws an Error that says what to do.
 */
export async function provideModel(
  wish: string | undefined,
  onScene: boolean,
  data: string,
  say: (message: string) => void,
): Promise<string> {
  const root = join(data, 'models')
  const { models } = await scanModels([root, shippedModels])
  if (wish === undefined) {
    const own = [...models.keys()].find(name => name !== sceneDetector)
    return onScene ? sceneDetector : (own ?? sceneDetector)
  }
  if (models.has(wish)) return wish
  if (wish.endsWith('.onnx')) return addFile(root, resolve(wish), say)
  const published = publishedModels[wish]
  if (!published) throw new Error(unknown(wish, [...models.keys()]))
  say(`fetching ${published.url}`)
  await addModel(root, { name: wish, model: await download(published), ...published.options })
  return wish
}

function unknown(wish: string, stored: string[]): string {
  const known = [...stored, ...Object.keys(publishedModels)].join(', ')
  return `MODEL=${wish}: there is no such model; known are ${known}; or give the path of an .onnx file`
}

/** Adds an ONNX file under its own name, taking the first head whose output it has. */
async function addFile(root: string, file: string, say: (message: string) => void): Promise<string> {
  const model = await readFile(file).catch(() => {
    throw new Error(`MODEL: there is no file ${file}`)
  })
  const name = basename(file, '.onnx')
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
  const labels = await labelsBeside(file)
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
      say(`added ${name} with the head ${head} and ${labels ? 'the labels beside it' : "COCO's labels"}`)
      return name
    } catch (error) {
      reasons.push((error as Error).message)
    }
  }
  throw new Error(`MODEL=${file}: ${reasons[0]} (eyrie model add says more precisely what a file is)`)
}

async function labelsBeside(file: string): Promise<string[] | undefined> {
  for (const name of [`${basename(file, '.onnx')}.txt`, 'labels.txt']) {
    const text = await readFile(join(dirname(file), name), 'utf8').catch(() => undefined)
    if (text !== undefined) return parseLabels(text)
  }
  return undefined
}
