import { modelHead } from '@eyrie/contract/model'
import { type AddModel, cocoLabels, parseLabels } from '@eyrie/model-store'
import type { parse } from '../parse.ts'
import { read } from '../read.ts'
import { UsageError } from '../terminal.ts'

/** Options that say what an ONNX file does not say of itself. */
export const factOptions = {
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

type Values = ReturnType<typeof parse<typeof factOptions>>['values']

/** What the options say; what is not given is absent. Throws `UsageError` where one makes no sense. */
export async function factsOf(values: Values): Promise<Partial<AddModel>> {
  const { head, labels, license, source, color, scale, mean, std, size } = values
  const together = values['suppress-together']
  return {
    ...(head !== undefined && { head: oneOf('head', head, modelHead.options) }),
    ...(labels !== undefined && { labels: await readLabels(labels) }),
    ...(license !== undefined && { license }),
    ...(source !== undefined && { source }),
    ...(color !== undefined && { color: oneOf('color', color, ['rgb', 'bgr']) }),
    ...(size !== undefined && { size: sizeOf(size) }),
    ...(together && { suppress_together: together.map(list => list.split(',').map(label => label.trim())) }),
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
function numbers(option: 'scale' | 'mean' | 'std', text: string): number[] {
  const values = text.split(',').map(part => {
    const [above, below = '1', ...rest] = part.trim().split('/')
    return above && rest.length === 0 ? Number(above) / Number(below) : Number.NaN
  })
  const isCount = values.length === 1 || (values.length === 3 && option !== 'scale')
  const isFactor = option === 'mean' || !values.includes(0)
  if (isCount && isFactor && values.every(Number.isFinite)) return values
  const wanted = {
    scale: 'a number other than 0',
    mean: 'one number or three',
    std: 'one number or three, none 0',
  }
  throw new UsageError(`--${option} ${text} should be ${wanted[option]}`)
}

function sizeOf(text: string): { width: number; height: number } {
  const match = /^([1-9]\d{0,3})x([1-9]\d{0,3})$/.exec(text)
  if (!match) throw new UsageError(`--size ${text} should be width x height, such as 640x640`)
  return { width: Number(match[1]), height: Number(match[2]) }
}
