import { isConvex } from '@eyrie/element/region'
import { Ajv2020, type ErrorObject, type KeywordDefinition } from 'ajv/dist/2020.js'
import { z } from 'zod'

/** The first violation of a schema: a JSON pointer into the value, and a message that continues it as a sentence. */
export interface Problem {
  pointer: string
  message: string
}

/** Validates a value against a schema. Returns a copy with the schema's defaults filled in. */
export type Check = (value: unknown) => { value: unknown; problem: Problem | undefined }

const ajvOptions = {
  allErrors: true,
  useDefaults: true,
  // Schemas are written by third parties: an unknown keyword is not an error.
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
    validate: (isRequired: boolean, corners: unknown[]) => {
      const points = z.array(z.object({ x: z.number(), y: z.number() })).safeParse(corners)
      return !isRequired || !points.success || isConvex(points.data)
    },
    error: { message: 'must name corners in the order in which they go round a convex quadrilateral' },
  },
]

const metaSchemaAjv = new Ajv2020(ajvOptions)

/** Throws if `schema` is not a valid JSON Schema. Without a schema, only an empty object passes. */
export function compileCheck(schema: Record<string, unknown> | null): Check {
  if (!schema) return checkEmpty
  metaSchemaAjv.validateSchema(schema, true)
  // One instance per schema: an `$id` must not be visible to the schemas of other plugins.
  const ajv = new Ajv2020({ ...ajvOptions, keywords, meta: false, validateSchema: false })
  const validate = ajv.compile(schema)
  return original => {
    const value = structuredClone(original)
    return { value, problem: validate(value) ? undefined : describeErrors(validate.errors ?? []) }
  }
}

const checkEmpty: Check = value => {
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0
  return { value, problem: isEmpty ? undefined : { pointer: '', message: 'is not taken by this element' } }
}

/** Describes the first error. Of several alternatives, the one with the fewest errors was probably meant. */
function describeErrors(errors: ErrorObject[]): Problem {
  const byAlternative = Map.groupBy(
    errors,
    ({ schemaPath }) => /^#\/(?:oneOf|anyOf)\/\d+/.exec(schemaPath)?.[0],
  )
  const unconditional = (byAlternative.get(undefined) ?? []).filter(
    ({ keyword }) => keyword !== 'oneOf' && keyword !== 'anyOf',
  )
  if (unconditional.length > 0) return describeError(unconditional[0]!)
  byAlternative.delete(undefined)
  const alternatives = [...byAlternative.values()]
  if (alternatives.length > 1 && alternatives.flat().every(({ keyword }) => keyword === 'required'))
    return {
      pointer: alternatives[0]![0]!.instancePath,
      message: `must have ${alternatives.map(listMissingProperties).join(', or ')}`,
    }
  const [closest = errors] = alternatives.sort((a, b) => a.length - b.length)
  return describeError(closest[0]!)
}

function listMissingProperties(errors: ErrorObject[]): string {
  return errors.map(({ params }) => params.missingProperty).join(' and ')
}

function describeError({ instancePath, keyword, params, message }: ErrorObject): Problem {
  const toPointer = (property: string) =>
    `${instancePath}/${property.replaceAll('~', '~0').replaceAll('/', '~1')}`
  switch (keyword) {
    case 'required':
      return { pointer: toPointer(params.missingProperty), message: 'is required' }
    case 'additionalProperties':
      return { pointer: toPointer(params.additionalProperty), message: 'is not known' }
    case 'enum':
      return { pointer: instancePath, message: `must be one of ${params.allowedValues.join(', ')}` }
    default:
      return { pointer: instancePath, message: message ?? `does not satisfy "${keyword}"` }
  }
}
