import { isConvex } from '@eyrie/element/region'
import { Ajv2020, type ErrorObject, type KeywordDefinition } from 'ajv/dist/2020.js'
import { z } from 'zod'

/** What is wrong with a value: where, as a JSON pointer inside it, and what, as the rest of a sentence. */
export interface Problem {
  pointer: string
  message: string
}

/** Checks a value and fills in the schema's defaults, without touching what it was given. */
export type Check = (value: unknown) => { value: unknown; problem: Problem | undefined }

const options = {
  allErrors: true,
  useDefaults: true,
  // Schemas are other people's: what this validator does not know is no error.
  strict: false,
  validateFormats: false,
}

const keywords: KeywordDefinition[] = [
  {
    keyword: 'uniqueItemProperties',
    type: 'array',
    schemaType: 'array',
    compile: (properties: string[]) => (items: Record<string, unknown>[]) =>
      properties.every(property => new Set(items.map(item => item?.[property])).size === items.length),
    error: { message: ({ schema }) => `must not have two items with the same ${schema.join(' or ')}` },
  },
  {
    keyword: 'convexCorners',
    type: 'array',
    schemaType: 'boolean',
    validate: (isAsked: boolean, corners: unknown[]) => {
      const points = z.array(z.object({ x: z.number(), y: z.number() })).safeParse(corners)
      return !isAsked || !points.success || isConvex(points.data)
    },
    error: { message: 'must name corners in the order in which they go round a convex quadrilateral' },
  },
]

const judge = new Ajv2020(options)

/** Throws if `schema` is no JSON Schema. Without one there is nothing to be given. */
export function compileCheck(schema: Record<string, unknown> | null): Check {
  if (!schema) return refuseAll
  judge.validateSchema(schema, true)
  // By a validator of its own: what a schema names by `$id` is nothing to the schemas of others.
  const validate = new Ajv2020({ ...options, keywords, meta: false, validateSchema: false }).compile(schema)
  return given => {
    const value = structuredClone(given)
    return { value, problem: validate(value) ? undefined : explain(validate.errors ?? []) }
  }
}

const refuseAll: Check = value => {
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0
  return { value, problem: isEmpty ? undefined : { pointer: '', message: 'is not taken by this element' } }
}

/** The first error; of alternatives, in the one that the value comes closest to. */
function explain(errors: ErrorObject[]): Problem {
  const alternatives = Map.groupBy(
    errors,
    ({ schemaPath }) => /^#\/(?:oneOf|anyOf)\/\d+/.exec(schemaPath)?.[0],
  )
  const plain = alternatives
    .get(undefined)
    ?.filter(({ keyword }) => keyword !== 'oneOf' && keyword !== 'anyOf')
  const others = [...alternatives].filter(([alternative]) => alternative).map(([, found]) => found)
  if (!plain?.length && others.length > 1 && others.flat().every(({ keyword }) => keyword === 'required'))
    return { pointer: others[0]![0]!.instancePath, message: `must have ${others.map(missing).join(', or ')}` }
  const closest = others.sort((a, b) => a.length - b.length)[0]
  return sentence((plain?.length ? plain : (closest ?? errors))[0]!)
}

const missing = (errors: ErrorObject[]) => errors.map(({ params }) => params.missingProperty).join(' and ')

function sentence({ instancePath, keyword, params, message }: ErrorObject): Problem {
  const inside = (name: string) => `${instancePath}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
  if (keyword === 'required') return { pointer: inside(params.missingProperty), message: 'is required' }
  if (keyword === 'additionalProperties') {
    return { pointer: inside(params.additionalProperty), message: 'is not known' }
  }
  if (keyword === 'enum')
    return { pointer: instancePath, message: `must be one of ${params.allowedValues.join(', ')}` }
  return { pointer: instancePath, message: message ?? `does not satisfy "${keyword}"` }
}
