import { join, resolve } from 'node:path'
import {
  addModel,
  download,
  type NewModel,
  type OnProgress,
  PUBLISHED_MODELS,
} from '@eyrie/model-store'
import { type Command, parseArguments, UsageError } from '../command/command.ts'
import { downloadThroughProxy } from '../command/download-proxy.ts'
import { createLocalFolder, readLocalFile } from '../command/local-files.ts'
import { type Output, type Terminal, writeSuccess } from '../command/terminal.ts'
import { MODEL_OPTIONS, type ModelOptions, parseModelOptions } from './model-options.ts'

const BYTES_PER_MIB = 1024 * 1024
const PUBLISHED_NAMES = Object.keys(PUBLISHED_MODELS).join(', ')

/**
 * `eyrie model add`: adds a detection model to the data folder, by download or from a local file.
 */
export const addModelCommand: Command = {
  usage:
    '<name> [--file model.onnx --head yolox|decoded|nms --labels labels.txt|coco --license Apache-2.0\n' +
    '      [--color rgb|bgr] [--scale 1/255] [--mean 0,0,0] [--std 1,1,1] [--size 640x640]\n' +
    '      [--suppress-together car,truck,bus]… [--score-threshold 0.3] [--iou-threshold 0.3]\n' +
    '      [--class-score-threshold airplane=0.9]… [--source URL]]',
  about:
    `Adds a published model (${PUBLISHED_NAMES}) or an ONNX file.\n` +
    'To add a published model from a local file, its name and --file are sufficient.\n' +
    'Pixels are normalized as (value · scale − mean) / std.',

  async run(args, terminal) {
    const options = { file: { type: 'string' }, ...MODEL_OPTIONS } as const
    const { values, positionals } = parseArguments(args, options, ['name'])
    const [name] = positionals
    const { file, ...modelOptions } = values
    const model =
      file === undefined
        ? await downloadPublished(name, modelOptions, terminal)
        : await readModelFile(name, file, modelOptions)

    const root = join(terminal.data, 'models')
    await createLocalFolder(root)
    const { card, folder } = await addModel(root, model).catch(cause => {
      throw new Error(`${file ?? name} cannot be added: ${cause.message}`, { cause })
    })

    const { width, height, dynamic, multiple_of: multipleOf } = card.input
    const sizes = dynamic
      ? `${width}x${height}, or any multiple of ${multipleOf}`
      : `${width}x${height}`
    writeSuccess(
      terminal.out,
      'added',
      `${name}: ${card.labels.length} classes at ${sizes}, in ${folder}`,
    )
  },
}

/** Downloads a published model. Throws if there are options, because its properties are known. */
async function downloadPublished(
  name: string,
  options: ModelOptions,
  { err, environment = {} }: Terminal,
): Promise<NewModel> {
  const published = PUBLISHED_MODELS[name]
  if (!published) {
    throw new UsageError(
      `${name} is not a published model (${PUBLISHED_NAMES}): use --file to add an ONNX file of your own`,
    )
  }
  const [unexpected] = Object.keys(options)
  if (unexpected) {
    throw new UsageError(
      `--${unexpected} requires --file: the properties of ${name} are already known`,
    )
  }

  const progress = showProgress(err, `fetching ${published.url}`)
  try {
    const model = await downloadThroughProxy(environment, () =>
      download(published, progress.report),
    )
    return { ...published.options, name, model }
  } finally {
    progress.end()
  }
}

/**
 * Reads a local ONNX file. If the name is that of a published model, options that are missing have
 * the values of that model.
 */
async function readModelFile(name: string, file: string, options: ModelOptions): Promise<NewModel> {
  const defaults = PUBLISHED_MODELS[name]?.options
  const properties = { ...defaults, ...(await parseModelOptions(options)) }
  const { head, labels, license, source = resolve(file) } = properties
  if (head === undefined) throw new UsageError('--head is missing')
  if (labels === undefined) throw new UsageError('--labels is missing')
  if (license === undefined) throw new UsageError('--license is missing')
  return { ...properties, name, model: await readLocalFile(file), source, head, labels, license }
}

/**
 * Shows the progress of a download in one line: updated in place on a terminal,
 * printed once elsewhere.
 */
function showProgress(output: Output, title: string): { report: OnProgress; end(): void } {
  if (!output.isTTY) {
    output.write(`${title}\n`)
    return { report() {}, end() {} }
  }

  output.write(title)
  return {
    report(receivedBytes, totalBytes) {
      output.eraseLine?.()
      output.write(`${title}: ${formatProgress(receivedBytes, totalBytes)}`)
    },
    end: () => output.write('\n'),
  }
}

function formatProgress(receivedBytes: number, totalBytes: number | undefined): string {
  if (!totalBytes) return `${toMib(receivedBytes)} MiB`
  const percent = Math.floor((receivedBytes / totalBytes) * 100)
  return `${toMib(receivedBytes)} of ${toMib(totalBytes)} MiB, ${percent} %`
}

const toMib = (bytes: number) => (bytes / BYTES_PER_MIB).toFixed(1)
