import type { z } from 'zod'
import { EyrieError } from './errors.ts'

/**
 * Validation of JSON bodies and query parameters against Zod schemas. Error messages name the
 * invalid field by its JSON pointer and describe the problem without Zod's vocabulary, as in
 * `/sources/0/address: is required`.
 */

type Issue = z.core.$ZodIssue

/**
 * Returns the parsed value. Throws `EyrieError` (`syntax`) with the JSON pointer and the problem of
 * the first invalid field. `prefix` is prepended to the pointer.
 */
export function parseAs<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  prefix = '',
): z.output<Schema> {
  const parsed = schema.safeParse(value, { reportInput: true })
  if (parsed.success) return parsed.data

  const { path, message } = toFieldError(parsed.error.issues[0]!)
  throw syntaxError(prefix + toJsonPointer(path), message)
}

/**
 * The values of a query parameter that is repeated. It has a class of its own, so that
 * `describeIssue` can report a parameter that may not be repeated.
 */
class RepeatedParameter extends Array<string> {}

/**
 * Maps the name of each query parameter to its value, or to a list of values if the
 * parameter is repeated.
 */
export function toQueryFields(query: Record<string, string[]>): Record<string, string | string[]> {
  const fields = Object.entries(query).map(([name, values]) => {
    const isRepeated = values.length !== 1
    return [name, isRepeated ? RepeatedParameter.from(values) : values[0]!]
  })
  // An assignment to a field named `__proto__` would replace the prototype instead.
  return Object.fromEntries(fields)
}

/**
 * Describes the problem of a field in terms of JSON and query parameters. Requires
 * `reportInput` when parsing.
 */
export function describeIssue(issue: Issue): string {
  if (issue.code === 'unrecognized_keys') return 'unknown field'
  if (issue.input instanceof RepeatedParameter) return 'may be specified only once'
  if (isMissing(issue)) return 'is required'
  // Zod's "record" is an object in JSON.
  return issue.message.replace(/(expected|or) record\b/, '$1 object')
}

/** Returns the parsed JSON, or undefined if the text is not valid JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Creates an `EyrieError` (`syntax`) for the field at a JSON pointer; an empty pointer
 * refers to the whole value.
 */
export function syntaxError(
  pointer: string,
  message: string,
  options: { cause?: unknown } = {},
): EyrieError {
  return new EyrieError('syntax', pointer ? `${pointer}: ${message}` : message, options)
}

/** Formats a path as a JSON pointer (RFC 6901). */
export function toJsonPointer(path: readonly PropertyKey[]): string {
  const escapedKeys = path.map(key => String(key).replaceAll('~', '~0').replaceAll('/', '~1'))
  return escapedKeys.map(key => `/${key}`).join('')
}

/** The problem of one field. */
interface FieldError {
  path: PropertyKey[]
  message: string
}

/** Converts an issue of Zod. The path of an unknown field ends with its name. */
function toFieldError(issue: Issue): FieldError {
  if (issue.code === 'unrecognized_keys') {
    return { path: [...issue.path, issue.keys[0]!], message: describeIssue(issue) }
  }
  // An absent field fits no variant of a union, and is reported as absent.
  if (issue.code === 'invalid_union' && !isMissing(issue)) return toUnionError(issue)
  return { path: issue.path, message: describeIssue(issue) }
}

/**
 * Returns the error of the variant that the client intended, or of the whole union if no
 * variant has the right type.
 */
function toUnionError(union: z.core.$ZodIssueInvalidUnion): FieldError {
  const firstIssues = union.errors.map(issues => issues[0]).filter(issue => issue !== undefined)
  const intended = firstIssues.find(issue => !isWrongType(issue))
  if (intended) {
    const { path, message } = toFieldError(intended)
    return { path: [...union.path, ...path], message }
  }

  const expectedTypes = firstIssues.filter(isWrongType).map(issue => issue.expected)
  const message =
    expectedTypes.length > 0
      ? `Invalid input: expected ${expectedTypes.join(' or ')}`
      : union.message
  return { path: union.path, message: describeIssue({ ...union, message }) }
}

/** Whether the value itself, not a field of it, has another type than the schema. */
const isWrongType = (issue: Issue): issue is z.core.$ZodIssueInvalidType =>
  issue.code === 'invalid_type' && issue.path.length === 0

/** Whether a required field is absent. */
const isMissing = ({ code, input, path }: Issue) =>
  input === undefined && path.length > 0 && /^invalid_(type|value|union)$/.test(code)
