import { toJsonPointer } from '@eyrie/contract/parse'
import { isConvex } from '@eyrie/element/region'
import { Ajv2020, type ErrorObject, type KeywordDefinition } from 'ajv/dist/2020.js'
import { z } from 'zod'

/**
 * Checks the args and config of elements, the steps of pipelines, against the JSON Schemas in the
 * manifests of plugins.
 */

/** A violation of a schema. */
export interface Problem {
  /** JSON pointer to the invalid part of the value. */
  pointer: string
  /** A predicate such as `must be one of a, b`. */
  message: string
}

/**
 * Checks a value against a schema. Returns a copy of the value, completed with the defaults of the
 * schema, and the problem if the value is invalid.
 */
export type Check = (value: unknown) => { value: unknown; problem: Problem | undefined }

const AJV_OPTIONS = {
  // `describeErrors` selects the most helpful one of all errors.
  allErrors: true,
  useDefaults: true,
  // Third-party schemas may contain keywords that Ajv does not know.
  strict: false,
  validateFormats: false,
}

/** Keywords that Eyrie adds to JSON Schema. */
const KEYWORDS: KeywordDefinition[] = [
  {
    keyword: 'uniqueItemProperties',
    type: 'array',
    schemaType: 'array',
    compile: (properties: string[]) => (items: Record<string, unknown>[]) =>
      properties.every(property => hasUniqueValues(items, property)),
    error: {
      message: ({ schema }) => `must not have two items with the same ${schema.join(' or ')}`,
    },
  },
  {
    keyword: 'convexCorners',
    type: 'array',
    schemaType: 'boolean',
    validate: (isRequired: boolean, corners: unknown[]) => {
      const points = z.array(z.object({ x: z.number(), y: z.number() })).safeParse(corners)
      return !isRequired || !points.success || isConvex(points.data)
    },
    error: { message: 'must list the corners of a convex quadrilateral in order' },
  },
]

function hasUniqueValues(items: Record<string, unknown>[], property: string): boolean {
  const values = new Set(items.map(item => item?.[property]))
  return values.size === items.length
}

/** Validates schemas themselves. */
const metaSchemaAjv = new Ajv2020(AJV_OPTIONS)
// Compiles the schema of schemas here: if a time limit interrupted that, Ajv would fail ever after.
metaSchemaAjv.validateSchema({})

/**
 * Compiles a schema. Throws if `schema` is not a valid JSON Schema. Without a schema, only an
 * empty object is valid.
 */
export function compileCheck(schema: Record<string, unknown> | null): Check {
  if (!schema) return checkIsEmpty
  metaSchemaAjv.validateSchema(schema, true)
  // Each schema has its own Ajv instance, so that its `$id` is not visible to the
  // schemas of other plugins.
  const ajv = new Ajv2020({
    ...AJV_OPTIONS,
    keywords: KEYWORDS,
    meta: false,
    validateSchema: false,
  })
  const validate = ajv.compile(removeForeignDefaults(schema))
  return original => {
    const value = structuredClone(original)
    return { value, problem: validate(value) ? undefined : describeErrors(validate.errors ?? []) }
  }
}

/**
 * Removes the defaults of properties with the annotation `defaultFrom`, which are only shown to
 * users. The actual default comes from another part of Eyrie, such as the card of a model.
 */
function removeForeignDefaults(schema: Record<string, unknown>): Record<string, unknown> {
  return JSON.parse(JSON.stringify(schema), (_key, value) => {
    if (typeof value?.defaultFrom !== 'string') return value
    const { default: _default, ...rest } = value
    return rest
  })
}

const checkIsEmpty: Check = value => {
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0
  return {
    value,
    problem: isEmpty ? undefined : { pointer: '', message: 'is not accepted by this element' },
  }
}

/**
 * Describes the first error; there is at least one. If the schema has alternatives
 * (`oneOf` or `anyOf`), the user probably meant the alternative with the fewest errors,
 * whose first error is described.
 */
function describeErrors(errors: ErrorObject[]): Problem {
  const { unconditional, alternatives } = groupByAlternative(errors)
  if (unconditional.length > 0) return describeError(unconditional[0]!)

  // If each alternative lacks only properties, the user has not chosen one yet.
  const lacksOnlyProperties = alternatives.flat().every(({ keyword }) => keyword === 'required')
  if (alternatives.length > 1 && lacksOnlyProperties) {
    const requirements = alternatives.map(listMissingProperties).join(', or ')
    return { pointer: alternatives[0]![0]!.instancePath, message: `must have ${requirements}` }
  }

  // Without alternatives, all errors are about `oneOf` or `anyOf` itself.
  const [closest = errors] = alternatives.sort((a, b) => a.length - b.length)
  return describeError(closest[0]!)
}

/**
 * Groups errors by the alternative to which they belong: the path of such an error starts with, for
 * example, `#/oneOf/1`.
 */
function groupByAlternative(errors: ErrorObject[]) {
  const findAlternative = ({ schemaPath }: ErrorObject) =>
    /^#\/(?:oneOf|anyOf)\/\d+/.exec(schemaPath)?.[0]
  const groups = Map.groupBy(errors, findAlternative)
  const ungrouped = groups.get(undefined) ?? []
  groups.delete(undefined)
  return {
    /** The errors outside of alternatives. */
    unconditional: ungrouped.filter(({ keyword }) => keyword !== 'oneOf' && keyword !== 'anyOf'),
    /** The errors of each alternative. */
    alternatives: [...groups.values()],
  }
}

function listMissingProperties(errors: ErrorObject[]): string {
  return errors.map(({ params }) => params.missingProperty).join(' and ')
}

function describeError({ instancePath, keyword, params, message }: ErrorObject): Problem {
  const toPointer = (property: string) => instancePath + toJsonPointer([property])
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
