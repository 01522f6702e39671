import { EyrieError } from '@eyrie/contract'
import type { ManagementRoute } from '@eyrie/contract/management/index'
import { describeIssue, toQueryFields } from '@eyrie/contract/parse'
import { createMediaTypeError, getMediaType, parseJson } from '@eyrie/kit/request-body'
import type { Context } from 'hono'
import type { z } from 'zod'
import { isStorable } from '../../db/schema/columns.ts'
import { fieldError, fieldErrors } from '../../errors/field-errors.ts'

const FORM_TYPE = 'multipart/form-data'
const JSON_TYPE = 'application/json'

const UNSTORABLE_REASON = 'must not contain the character NUL or an unpaired surrogate'

/** A field of a request that violates the schema of the route. */
interface InvalidField {
  field: string
  reason: string
  /** The value cannot be the id of any record. */
  isImpossibleId: boolean
}

/**
 * Returns the validated fields of a request to the management API. Throws `EyrieError` that lists
 * every invalid field: `id` if all of them are ids that no record can have, otherwise `syntax`.
 */
export async function readInput(c: Context, route: ManagementRoute): Promise<unknown> {
  if (route.body && c.req.method === 'POST') {
    return validate(route.body, omitFields(await readBody(c), route.ignoredFields))
  }
  // A GET of a route with a body has the fields of the body in the query: the `Location` of a
  // created record points to such a route.
  const schema = route.body ?? route.query
  return schema && validate(schema, toQueryFields(c.req.queries()))
}

/**
 * Returns the uploaded file. Every upload may be a multipart form with the file in the field of the
 * route. A route with `fileTypes` is more lenient: the file may be in any field of the form, or the
 * body itself may be the file, with one of these types or without a type.
 */
export async function readUpload(
  c: Context,
  { fileField: field = '', fileTypes }: ManagementRoute,
): Promise<File> {
  const type = getMediaType(c)
  if (type === FORM_TYPE) {
    return readFormFile(c, field, { acceptsAnyField: fileTypes !== undefined })
  }

  if (type === undefined || fileTypes?.includes(type)) {
    const content = new Uint8Array(await c.req.arrayBuffer())
    if (content.length === 0) throw missingFile(field)
    if (fileTypes) return new File([content], field)
  }
  throw createMediaTypeError(type, [FORM_TYPE, ...(fileTypes ?? [])])
}

async function readFormFile(
  c: Context,
  field: string,
  { acceptsAnyField }: { acceptsAnyField: boolean },
): Promise<File> {
  const form = await c.req.formData().catch(cause => {
    if (cause instanceof EyrieError) throw cause
    throw fieldError(field, `the body is not a multipart form: ${(cause as Error).message}`)
  })

  const expected = form.get(field)
  const candidates = acceptsAnyField ? [expected, ...form.values()] : [expected]
  const file = candidates.find(candidate => candidate instanceof File)
  if (file) return file
  // A file that is sent without a file name is parsed as text.
  if (typeof expected === 'string') return new File([expected], field)
  throw missingFile(field)
}

const missingFile = (field: string) => fieldError(field, 'send the file in this multipart field')

function validate<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const unstorablePaths = findUnstorablePaths(value, '')
  if (unstorablePaths.length > 0) {
    throw fieldErrors(unstorablePaths.map(field => ({ field, reason: UNSTORABLE_REASON })))
  }

  const parsed = schema.safeParse(value, { reportInput: true })
  if (parsed.success) return parsed.data

  const invalidFields = selectFirstPerField(parsed.error.issues.flatMap(toInvalidFields))
  const areImpossibleIds = invalidFields.every(({ isImpossibleId }) => isImpossibleId)
  throw fieldErrors(
    invalidFields.map(({ field, reason }) => ({ field, reason })),
    { code: areImpossibleIds ? 'id' : 'syntax' },
  )
}

/** Returns the first problem of each field. */
function selectFirstPerField(invalidFields: readonly InvalidField[]): InvalidField[] {
  const byField = Map.groupBy(invalidFields, ({ field }) => field)
  return [...byField.values()].flatMap(([first]) => first ?? [])
}

/** Returns the fields that an issue of Zod is about: one, or all unknown fields. */
function toInvalidFields(issue: z.core.$ZodIssue): InvalidField[] {
  const path = issue.path.join('.')
  const reason = describeIssue(issue)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(key => ({
      field: path ? `${path}.${key}` : key,
      reason,
      isImpossibleId: false,
    }))
  }
  // The contract's schema of ids sets this parameter for text that is not a UUID.
  const isImpossibleId = issue.code === 'custom' && issue.params?.absent === true
  return [{ field: path || 'body', reason, isImpossibleId }]
}

/** Returns the parsed JSON body. An empty body counts as an object without fields. */
async function readBody(c: Context): Promise<unknown> {
  const type = getMediaType(c)
  if (type !== undefined && type !== JSON_TYPE) throw createMediaTypeError(type, [JSON_TYPE])
  const text = await c.req.text()
  // The error about an empty body lists the required fields.
  if (text === '') return {}
  if (type === undefined) throw createMediaTypeError(type, [JSON_TYPE])
  return parseJson(text)
}

function omitFields(body: unknown, fields: readonly string[] = []): unknown {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return body
  return Object.fromEntries(Object.entries(body).filter(([key]) => !fields.includes(key)))
}

/** Returns the paths of all text, including names of fields, that Postgres cannot store. */
function findUnstorablePaths(value: unknown, path: string): string[] {
  if (typeof value === 'string') return isStorable(value) ? [] : [path || 'body']
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([key, part]) =>
    isStorable(key) ? findUnstorablePaths(part, path ? `${path}.${key}` : key) : [path || 'body'],
  )
}
