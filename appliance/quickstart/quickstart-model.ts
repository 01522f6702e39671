import { readFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { downloadThroughProxy } from '@eyrie/cli/command/download-proxy'
import { readLocalFile } from '@eyrie/cli/command/local-files'
import type { ModelCard } from '@eyrie/contract'
import {
  addModel,
  COCO_DETECTOR,
  download,
  PUBLISHED_MODELS,
  parseLabels,
  SHIPPED_MODELS,
  scanModels,
} from '@eyrie/model-store'
import type { LogFields } from '../process/service-log.ts'

/**
 * The detector that ships with Eyrie. It detects the people and cars of the demo
 * scene, and nothing else.
 */
export const SCENE_DETECTOR = 'scene-detector'

/**
 * Output formats of a detection model, which are called heads. A model file does not
 * say which one it has.
 */
const HEADS: ModelCard['head'][] = ['yolox', 'nms', 'decoded']

/** Logs a step, such as a download. */
type Report = (message: string, fields: LogFields) => void

export interface ModelRequest {
  /** The value of `MODEL=`. */
  name: string | undefined
  /** Whether the model analyses the demo scene instead of the user's video. */
  isScene: boolean
}

/**
 * Returns the name of the model that the quickstart runs, from the model store in the data folder.
 * `MODEL=` may name a model in the store, or a published model or ONNX file, which is added to the
 * store. Throws an `Error` that lists the known models for any other name. Without `MODEL=`,
 * returns a default that suits the video.
 */
export async function provideModel(
  { name: requested, isScene }: ModelRequest,
  data: string,
  report: Report,
): Promise<string> {
  const root = join(data, 'models')
  const { models } = await scanModels([root, SHIPPED_MODELS])
  const names = [...models.keys()]

  if (requested === undefined) return isScene ? SCENE_DETECTOR : chooseDefaultModel(names)
  if (models.has(requested)) return requested
  if (requested.endsWith('.onnx')) return addModelFile(root, resolve(requested), report)

  const published = PUBLISHED_MODELS[requested]
  if (!published) {
    const known = [...names, ...Object.keys(PUBLISHED_MODELS)].join(', ')
    throw new Error(
      `MODEL=${requested}: unknown model. Use one of ${known}, or the path of an .onnx file`,
    )
  }
  report('downloading model', { url: published.url })
  const model = await downloadThroughProxy(process.env, () => download(published))
  await addModel(root, { name: requested, model, ...published.options })
  return requested
}

/**
 * Returns a model that the user has added, because the scene detector detects
 * nothing in other videos.
 */
const chooseDefaultModel = (names: string[]) =>
  names.find(name => name !== SCENE_DETECTOR) ?? SCENE_DETECTOR

/**
 * Adds an ONNX file to the store and returns the name of the model. Tries all heads, and
 * keeps the one that works.
 */
async function addModelFile(root: string, file: string, report: Report): Promise<string> {
  const model = await readLocalFile(file).catch((cause: Error) => {
    throw new Error(`MODEL: ${cause.message}`, { cause })
  })
  const name = basename(file, '.onnx')
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
  const labels = await findLabels(file)

  const reasons: string[] = []
  for (const head of HEADS) {
    try {
      await addModel(root, {
        name,
        model,
        head,
        // Most published detectors are trained on COCO.
        ...(labels ? { labels } : COCO_DETECTOR),
        // YOLOX is trained on images that OpenCV has read, which are in BGR.
        color: head === 'yolox' ? 'bgr' : 'rgb',
        license: 'not stated',
        source: file,
      })
      report('added model', { model: name, head, labels: labels ? 'from file' : 'COCO' })
      return name
    } catch (error) {
      reasons.push((error as Error).message)
    }
  }
  throw new Error(`MODEL=${file}: ${reasons[0]} (use eyrie model add to specify its properties)`)
}

/** Reads the labels from a file in the folder of the model, `<name>.txt` or `labels.txt`. */
async function findLabels(modelFile: string): Promise<string[] | undefined> {
  for (const name of [`${basename(modelFile, '.onnx')}.txt`, 'labels.txt']) {
    const text = await readFile(join(dirname(modelFile), name), 'utf8').catch(() => undefined)
    if (text !== undefined) return parseLabels(text)
  }
  return undefined
}
