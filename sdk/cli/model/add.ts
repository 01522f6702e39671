import { join, resolve } from 'node:path'
import { type AddModel, addModel, download, publishedModels } from '@eyrie/model-store'
import type { Command } from '../eyrie.ts'
import { parse } from '../parse.ts'
import { read } from '../read.ts'
import { styled, type Terminal, UsageError } from '../terminal.ts'
import { factOptions, factsOf } from './facts.ts'
import { progressOn } from './progress.ts'

const published = Object.keys(publishedModels).join(', ')

export const addCommand: Command = {
  usage:
    '<name> [--file model.onnx --head yolox|decoded|nms --labels labels.txt|coco --license Apache-2.0\n' +
    '      [--color rgb|bgr] [--scale 1/255] [--mean 0,0,0] [--std 1,1,1] [--size 640x640]\n' +
    '      [--suppress-together car,truck,bus]… [--source URL]]',
  about:
    `Adds a model: a published one by its name (${published}) or a file of yours.\n` +
    'Of a published model that you have as a file, the name and --file are enough.\n' +
    'Pixels reach your model as (value · scale − mean) / std.',

  async run(args, terminal) {
    const { values, positionals } = parse(args, { file: { type: 'string' }, ...factOptions }, ['name'])
    const name = positionals[0]!
    const { file, ...options } = values
    const request =
      file === undefined ? await fetched(name, options, terminal) : await given(name, file, options)
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

type Options = Parameters<typeof factsOf>[0]

async function fetched(name: string, options: Options, { err }: Terminal): Promise<AddModel> {
  const model = publishedModels[name]
  if (!model)
    throw new UsageError(
      `${name} is none of the published models (${published}): give a file of yours with --file`,
    )
  const extra = Object.keys(options)[0]
  if (extra) throw new UsageError(`--${extra} goes with --file; all is known of the published model ${name}`)
  const progress = progressOn(err, `fetching ${model.url}`)
  try {
    return { name, model: await download(model, progress.report), ...model.options }
  } finally {
    progress.end()
  }
}

/** A file of the user's; of a published model that was fetched by other means all the rest is known. */
async function given(name: string, file: string, options: Options): Promise<AddModel> {
  const facts = { ...publishedModels[name]?.options, ...(await factsOf(options)) }
  const { head, labels, license } = facts
  const missing = Object.entries({ head, labels, license }).find(([, value]) => value === undefined)
  if (missing) throw new UsageError(`--${missing[0]} is missing`)
  return {
    ...facts,
    name,
    model: await read(file),
    source: facts.source ?? resolve(file),
    head: head!,
    labels: labels!,
    license: license!,
  }
}
