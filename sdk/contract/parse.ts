import type { z } from 'zod'
import { EyrieError } from './errors.ts'

type Issue = z.core.$ZodIssue

/** Parses a value. Throws `EyrieError` (`syntax`), whose reason starts with the JSON pointer of the invalid field. */
export function parseAs<Schema extends z.ZodType>(schema: Schema, value: unknown, at = ''): z.output<Schema> {
  const parsed = schema.safeParse(value, { reportInput: true })
  if (parsed.success) return parsed.data
  const issue = findDeepestIssue(parsed.error.issues[0]!)
  throw syntaxError(at + toJsonPointer(issue.path), issue.message)
}

/** Values of a query parameter that occurs more than once. */
class RepeatedParameter extends Array<string> {}

/** Maps each query parameter to its value, or to the list of its values if it occurs more than once. */
export function toQueryFields(query: Record<string, string[]>): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(query).map(([name, values]) => [
      name,
      values.length === 1 ? values[0]! : RepeatedParameter.from(values),
    ]),
  )
}

/** Describes what is wrong with a field in terms of JSON and queries. The issue must report its input. */
export function describeIssue(issue: Issue): string {
  if (issue.code === 'unrecognized_keys') return 'unknown field'
  if (issue.input instanceof RepeatedParameter) return 'may be specified only once'
  if (isMissing(issue)) return 'is required'
  // Zod's record is an object in JSON.
  return issue.message.replace(/(expected|or) record\b/, '$1 object')
}

/** The parsed JSON, or undefined if the text is not valid JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Creates an `EyrieError` (`syntax`) at a JSON pointer. The pointer to the whole value is empty. */
export function syntaxError(at: string, message: string, options: { cause?: unknown } = {}): EyrieError {
  return new EyrieError('syntax', at ? `${at}: ${message}` : message, options)
}

/** Formats a path as a JSON pointer (RFC 6901). */
export function toJsonPointer(path: readonly PropertyKey[]): string {
  return path.map(key => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** The most specific issue. In a union, that of the first variant that matches at its root. */
function findDeepestIssue(issue: Issue): { path: PropertyKey[]; message: string } {
  if (issue.code === 'unrecognized_keys')
    return { path: [...issue.path, issue.keys[0]!], message: describeIssue(issue) }
  const variants = issue.code === 'invalid_union' ? issue.errors : []
  const intended = variants.find(
    ([first]) => first && (first.path.length > 0 || first.code !== 'invalid_type'),
  )
  if (!intended || isMissing(issue))
    return {
      path: issue.path,
      message: describeIssue({ ...issue, message: describeVariants(variants) ?? issue.message }),
    }
  const inner = findDeepestIssue(intended[0]!)
  return { path: [...issue.path, ...inner.path], message: inner.message }
}

const isMissing = ({ code, input, path }: Issue) =>
  input === undefined && path.length > 0 && /^invalid_(type|value|union)$/.test(code)

/** Lists the types that the variants of a union expect. */
function describeVariants(errors: Issue[][]): string | undefined {
  const expected = errors.flatMap(([first]) => (first?.code === 'invalid_type' ? first.expected : []))
  return expected.length > 0 ? `Invalid input: expected ${expected.join(' or ')}` : undefined
}
