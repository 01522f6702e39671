import { modelHead } from '@eyrie/contract/model'
import { cocoLabels, type NewModel, parseLabels } from '@eyrie/model-store'
import { type parseArguments, UsageError } from '../command/command.ts'
import { readLocalFile } from '../command/local-files.ts'

/** Options for the properties of a model that an ONNX file does not contain. */
export const modelOptions = {
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

export type ModelOptions = ReturnType<typeof parseArguments<typeof modelOptions>>['values']

/** Parses the options that are present. Throws a `UsageError` for an invalid value. */
export async function parseModelOptions(options: ModelOptions): Promise<Partial<NewModel>> {
  const { head, labels, license, source, color, scale, mean, std, size } = options
  const suppressTogether = options['suppress-together']
  return {
    ...(head !== undefined && { head: parseChoice('head', head, modelHead.options) }),
    ...(labels !== undefined && { labels: await readLabels(labels) }),
    ...(license !== undefined && { license }),
    ...(source !== undefined && { source }),
    ...(color !== undefined && { color: parseChoice('color', color, ['rgb', 'bgr']) }),
    ...(size !== undefined && { size: parseSize(size) }),
    ...(suppressTogether && {
      suppress_together: suppressTogether.map(group => group.split(',').map(label => label.trim())),
    }),
    normalization: {
      ...(scale !== undefined && { scale: parseNumbers('scale', scale)[0] }),
      ...(mean !== undefined && { mean: parseNumbers('mean', mean) }),
      ...(std !== undefined && { std: parseNumbers('std', std) }),
    },
  }
}

const readLabels = async (labels: string) =>
  labels === 'coco' ? [...cocoLabels] : parseLabels((await readLocalFile(labels)).toString())

function parseChoice<const T extends string>(option: string, value: string, choices: readonly T[]): T {
  const choice = choices.find(candidate => candidate === value)
  if (!choice) throw new UsageError(`--${option} ${value} should be one of ${choices.join(', ')}`)
  return choice
}

const numberFormats = {
  scale: 'a number other than 0',
  mean: 'one number or three',
  std: 'one number or three, none 0',
}

/** Parses one number, or one for each of the three channels in the order of the model. Fractions such as 1/255 are allowed. */
function parseNumbers(option: keyof typeof numberFormats, text: string): number[] {
  const values = text.split(',').map(part => {
    const [numerator, denominator = '1', ...rest] = part.trim().split('/')
    return numerator && rest.length === 0 ? Number(numerator) / Number(denominator) : Number.NaN
  })
  const isValidCount = values.length === 1 || (values.length === 3 && option !== 'scale')
  const isZeroAllowed = option === 'mean'
  const isValid = isValidCount && values.every(Number.isFinite) && (isZeroAllowed || !values.includes(0))
  if (!isValid) throw new UsageError(`--${option} ${text} should be ${numberFormats[option]}`)
  return values
}

function parseSize(text: string): { width: number; height: number } {
  const match = /^([1-9]\d{0,3})x([1-9]\d{0,3})$/.exec(text)
  if (!match) throw new UsageError(`--size ${text} should be width x height, such as 640x640`)
  return { width: Number(match[1]), height: Number(match[2]) }
}
