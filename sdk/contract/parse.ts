import type { z } from 'zod'
import { EyrieError } from './errors.ts'

type Issue = z.core.$ZodIssue

/** What a schema makes of a value. Throws EyrieError `syntax` whose reason begins with the JSON pointer at fault. */
export function parseAs<Schema extends z.ZodType>(schema: Schema, value: unknown, at = ''): z.output<Schema> {
  const parsed = schema.safeParse(value, { reportInput: true })
  if (parsed.success) return parsed.data
  const fault = innermost(parsed.error.issues[0]!)
  throw syntaxError(at + toJsonPointer(fault.path), fault.message)
}

/** Values of a query's parameter that was given more than once: a list, or too many. */
class Repeated extends Array<string> {}

/** The fields of a query, from all values of each of its parameters. */
export function toQueryFields(query: Record<string, string[]>): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(query).map(([name, values]) => [
      name,
      values.length === 1 ? values[0]! : Repeated.from(values),
    ]),
  )
}

/** What is wrong with a field, in the words of who sends JSON or a query. The issue must report its input. */
export function describeIssue(issue: Issue): string {
  if (issue.code === 'unrecognized_keys') return 'there is no such field'
  if (issue.input instanceof Repeated) return 'is given more than once: give it once'
  if (isMissing(issue)) return 'is required'
  // What zod calls a record is an object in JSON.
  return issue.message.replace(/(expected|or) record\b/, '$1 object')
}

/** What a text holds; undefined where it is no JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** An EyrieError `syntax` at a JSON pointer; the pointer to the whole is empty. */
export function syntaxError(at: string, message: string, options: { cause?: unknown } = {}): EyrieError {
  return new EyrieError('syntax', at ? `${at}: ${message}` : message, options)
}

/** The JSON pointer (RFC 6901) of a path. */
export function toJsonPointer(path: readonly PropertyKey[]): string {
  return path.map(key => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** In a union, the fault of the variant that was most probably meant: one that fits at its root. */
function innermost(issue: Issue): { path: PropertyKey[]; message: string } {
  if (issue.code === 'unrecognized_keys')
    return { path: [...issue.path, issue.keys[0]!], message: describeIssue(issue) }
  const variants = issue.code === 'invalid_union' ? issue.errors : []
  const meant = variants.find(([first]) => first && (first.path.length > 0 || first.code !== 'invalid_type'))
  if (!meant || isMissing(issue))
    return {
      path: issue.path,
      message: describeIssue({ ...issue, message: noVariant(variants) ?? issue.message }),
    }
  const inner = innermost(meant[0]!)
  return { path: [...issue.path, ...inner.path], message: inner.message }
}

const isMissing = ({ code, input, path }: Issue) =>
  input === undefined && path.length > 0 && /^invalid_(type|value|union)$/.test(code)

/** What the variants of a union expect, of which the value is none. */
function noVariant(errors: Issue[][]): string | undefined {
  const wanted = errors.flatMap(([first]) => (first?.code === 'invalid_type' ? first.expected : []))
  return wanted.length > 0 ? `Invalid input: expected ${wanted.join(' or ')}` : undefined
}
