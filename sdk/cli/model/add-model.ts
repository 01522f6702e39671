import { join, resolve } from 'node:path'
import { addModel, download, type NewModel, type OnProgress, publishedModels } from '@eyrie/model-store'
import { type Command, parseArguments, UsageError } from '../command/command.ts'
import { readLocalFile } from '../command/local-files.ts'
import { type Output, styled, type Terminal } from '../command/terminal.ts'
import { type ModelOptions, modelOptions, parseModelOptions } from './model-options.ts'

const publishedNames = Object.keys(publishedModels).join(', ')

export const addModelCommand: Command = {
  usage:
    '<name> [--file model.onnx --head yolox|decoded|nms --labels labels.txt|coco --license Apache-2.0\n' +
    '      [--color rgb|bgr] [--scale 1/255] [--mean 0,0,0] [--std 1,1,1] [--size 640x640]\n' +
    '      [--suppress-together car,truck,bus]… [--source URL]]',
  about:
    `Adds a published model (${publishedNames}) or an ONNX file.\n` +
    'To add a published model from a local file, its name and --file are sufficient.\n' +
    'Pixels are normalised as (value · scale − mean) / std.',

  async run(args, terminal) {
    const options = { file: { type: 'string' }, ...modelOptions } as const
    const { values, positionals } = parseArguments(args, options, ['name'])
    const name = positionals[0]!
    const { file, ...cardOptions } = values
    const request =
      file === undefined
        ? await downloadPublished(name, cardOptions, terminal)
        : await readModelFile(name, file, cardOptions)
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

async function downloadPublished(name: string, options: ModelOptions, { err }: Terminal): Promise<NewModel> {
  const model = publishedModels[name]
  if (!model)
    throw new UsageError(
      `${name} is not a published model (${publishedNames}): use --file to add an ONNX file of your own`,
    )
  const extra = Object.keys(options)[0]
  if (extra) throw new UsageError(`--${extra} requires --file: the properties of ${name} are already known`)
  const progress = showProgress(err, `fetching ${model.url}`)
  try {
    return { name, model: await download(model, progress.report), ...model.options }
  } finally {
    progress.end()
  }
}

/** Reads a local file. For a published model, options that are absent default to the published properties. */
async function readModelFile(name: string, file: string, options: ModelOptions): Promise<NewModel> {
  const facts = { ...publishedModels[name]?.options, ...(await parseModelOptions(options)) }
  const { head, labels, license } = facts
  const missing = Object.entries({ head, labels, license }).find(([, value]) => value === undefined)
  if (missing) throw new UsageError(`--${missing[0]} is missing`)
  return {
    ...facts,
    name,
    model: await readLocalFile(file),
    source: facts.source ?? resolve(file),
    head: head!,
    labels: labels!,
    license: license!,
  }
}

const MIB = 1 << 20

/** Shows the progress of a download: one line, updated in place on a terminal and printed once elsewhere. */
function showProgress(output: Output, title: string): { report: OnProgress; end(): void } {
  output.write(title)
  if (!output.isTTY) output.write('\n')
  return {
    report: (received, total) => {
      const suffix = total
        ? ` of ${(total / MIB).toFixed(1)} MiB, ${Math.floor((received / total) * 100)} %`
        : ' MiB'
      if (output.isTTY) output.write(`\r\x1b[K${title}: ${(received / MIB).toFixed(1)}${suffix}`)
    },
    end: () => output.isTTY && output.write('\n'),
  }
}
