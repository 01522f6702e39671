import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { modelHead } from '@eyrie/contract/model'
import {
  type AddModel,
  addModel,
  cocoLabels,
  download,
  parseLabels,
  publishedModels,
} from '@eyrie/model-store'
import type { Command } from '../eyrie.ts'
import { styled, type Terminal, UsageError } from '../terminal.ts'
import { parse } from './parse.ts'
import { progressOn } from './progress.ts'

const options = {
  file: { type: 'string' },
  head: { type: 'string' },
  labels: { type: 'string' },
  license: { type: 'string' },
  source: { type: 'string' },
  color: { type: 'string' },
  scale: { type: 'string' },
  mean: { type: 'string' },
  std: { type: 'string' },
  size: { type: 'string' },
  'suppress-together': { type: 'string', multiple: true },
} as const

type Values = ReturnType<typeof parse<typeof options>>['values']

export const addCommand: Command = {
  usage:
    '<name> [--file model.onnx --head yolox|decoded|nms --labels labels.txt|coco --license Apache-2.0\n' +
    '      [--color rgb|bgr] [--scale 1/255] [--mean 0,0,0] [--std 1,1,1] [--size 640x640]\n' +
    '      [--suppress-together car,truck,bus]… [--source URL]]',
  about:
    `Adds a model: a published one by its name (${Object.keys(publishedModels).join(', ')}) or a file of yours.\n` +
    'Of a published model that you have as a file, the name and --file are enough.\n' +
    'Pixels reach your model as (value · scale − mean) / std.',

  async run(args, terminal) {
    const { values, positionals } = parse(args, options, ['name'])
    const name = positionals[0]!
    const request =
      values.file === undefined ? await fetched(name, values, terminal) : await given(name, values)
    const { card, folder } = await addModel(join(terminal.data, 'models'), request).catch(error => {
      throw new Error(`${file ?? name} cannot be added: ${error.message}`)
    })
    const { width, height, dynamic, multiple_of } = card.input
    const size = `${width}x${height}${dynamic ? `, or any multiple of ${multiple_of}` : ''}`
    terminal.out.write(
      `${styled(terminal.out, 'green', 'added')} ${name}: ${card.labels.length} classes at ${size}, in ${folder}\n`,
    )
  },
}

async function fetched(name: string, values: Values, { err }: Terminal): Promise<AddModel> {
  const published = publishedModels[name]
  if (!published) {
    const known = Object.keys(publishedModels).join(', ')
    throw new UsageError(
      `${name} is none of the published models (${known}): give a file of yours with --file`,
    )
  }
  const extra = Object.keys(values)[0]
  if (extra) throw new UsageError(`--${extra} goes with --file; all is known of the published model ${name}`)
  const progress = progressOn(err, `fetching ${published.url}`)
  try {
    return { name, model: await download(published, progress.report), ...published.options }
  } finally {
    progress.end()
  }
}

/** A file of the user's; of a published model that was fetched by other means all the rest is known. */
async function given(name: string, file: string, values: Values): Promise<AddModel> {
  const facts = { ...publishedModels[name]?.options, ...(await factsOf(values)) }
  const { head, labels, license } = facts
  const missing = Object.entries({ head, labels, license }).find(([, value]) => value === undefined)
  if (missing) throw new UsageError(`--${missing[0]} is missing`)
  return { ...facts, name, model: await read(file), head: head!, labels: labels!, license: license! }
}

/** What the options say; what is not given is absent. */
async function factsOf(values: Values): Promise<Partial<AddModel>> {
  const { head, labels, license, source, color, scale, mean, std, size } = values
  const together = values['suppress-together']
  return {
    ...(head !== undefined && { head: oneOf('head', head, modelHead.options) }),
    ...(labels !== undefined && { labels: await readLabels(labels) }),
    ...(license !== undefined && { license }),
    ...(source !== undefined && { source }),
    ...(color !== undefined && { color: oneOf('color', color, ['rgb', 'bgr']) }),
    ...(size !== undefined && { size: parseSize(size) }),
    ...(together && {
      suppress_together: together.map(list => list.split(',').map(label => label.trim())),
    }),
    normalization: {
      ...(scale !== undefined && { scale: numbers('scale', scale)[0] }),
      ...(mean !== undefined && { mean: numbers('mean', mean) }),
      ...(std !== undefined && { std: numbers('std', std) }),
    },
  }
}

const readLabels = async (labels: string) =>
  labels === 'coco' ? [...cocoLabels] : parseLabels((await read(labels)).toString())

function oneOf<const T extends string>(option: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find(other => other === value)
  if (!found) throw new UsageError(`--${option} ${value} should be one of ${allowed.join(', ')}`)
  return found
}

/** One number, or three for the channels in the model's order; fractions such as 1/255 are allowed. */
function numbers(option: string, text: string): number[] {
  const values = text.split(',').map(part => {
    const [above, below = '1', ...rest] = part.trim().split('/')
    return above && rest.length === 0 ? Number(above) / Number(below) : Number.NaN
  })
  const count = option === 'scale' ? values.length === 1 : values.length === 1 || values.length === 3
  if (!count || !values.every(Number.isFinite) || (option !== 'mean' && values.includes(0)))
    throw new UsageError(
      `--${option} ${text} should be one number${option === 'scale' ? '' : ' or three'}, not zero`,
    )
  return values
}

function parseSize(text: string): { width: number; height: number } {
  const match = /^([1-9]\d{0,3})x([1-9]\d{0,3})$/.exec(text)
  if (!match) throw new UsageError(`--size ${text} should be width x height, such as 640x640`)
  return { width: Number(match[1]), height: Number(match[2]) }
}

function read(path: string): Promise<Buffer> {
  return readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      error.code === 'ENOENT' ? `${path} does not exist` : `${path} cannot be read: ${error.message}`,
    )
  })
}
