import { EyrieError } from '@eyrie/contract'
import type { ManagementRoute } from '@eyrie/contract/management/index'
import { describeIssue, toQueryFields } from '@eyrie/contract/parse'
import type { Context } from 'hono'
import type { z } from 'zod'
import { isStorable } from '../../db/schema/columns.ts'
import { fieldError, fieldErrors } from '../../errors/field-errors.ts'

/** No valid input is nested deeper. The limit protects the stack. */
const MAX_DEPTH = 64

interface InvalidField {
  field: string
  reason: string
  /** The value cannot be the id of any record. */
  isImpossibleId: boolean
}

/** Returns the validated fields of a request. Throws `EyrieError` (`syntax`) listing every invalid field; `id` if all are ids. */
export async function readInput(c: Context, route: ManagementRoute): Promise<unknown> {
  // `Location` points to some POST routes; a GET passes the fields of the body as query parameters.
  if (route.body && c.req.method !== 'POST') return validate(route.body, toQueryFields(c.req.queries()))
  if (route.body) return validate(route.body, omitFields(await readBody(c), route.ignoredFields))
  if (route.query) return validate(route.query, toQueryFields(c.req.queries()))
  return undefined
}

/**
 * Returns the uploaded file, from the route's field of a multipart form or, on routes with `fileTypes`, from the body itself.
 * These routes also accept a file in any other field of a form, and a body without a content type.
 */
export async function readUpload(
  c: Context,
  { fileField: field = '', fileTypes }: ManagementRoute,
): Promise<File> {
  const type = getMediaType(c)
  if (type === NO_TYPE || fileTypes?.includes(type)) {
    const content = new Uint8Array(await c.req.arrayBuffer())
    if (content.length === 0) throw missingFile(field)
    if (fileTypes) return new File([content], field, { type })
  }
  if (type !== FORM) throw unsupportedType(type, [FORM, ...(fileTypes ?? [])].join(' or '))
  const form = await c.req.formData().catch(cause => {
    if (cause instanceof EyrieError) throw cause
    throw fieldError(field, `the body is not a multipart form: ${(cause as Error).message}`)
  })
  const candidates = [form.get(field), ...(fileTypes ? form.values() : [])]
  const file = candidates.find(value => value instanceof File)
  if (file) return file
  const content = form.get(field)
  // A form may contain a file without a file name.
  if (typeof content === 'string') return new File([content], field)
  throw missingFile(field)
}

const missingFile = (field: string) => fieldError(field, 'send the file in this multipart field')

function validate<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const unstorable = findUnstorablePaths(value, '')
  if (unstorable.length > 0)
    throw fieldErrors(
      unstorable.map(field => ({
        field,
        reason: 'must not contain the character NUL or an unpaired surrogate',
      })),
    )
  const parsed = schema.safeParse(value, { reportInput: true })
  if (parsed.success) return parsed.data
  const byField = Map.groupBy(parsed.error.issues.flatMap(toInvalidFields), ({ field }) => field)
  // Report the first fault of each field.
  const invalid = [...byField.values()].map(([first]) => first!)
  throw fieldErrors(
    invalid.map(({ field, reason }) => ({ field, reason })),
    { code: invalid.every(({ isImpossibleId }) => isImpossibleId) ? 'id' : 'syntax' },
  )
}

/** Returns the invalid field of an issue. An issue about unknown fields yields each of them. */
function toInvalidFields(issue: z.core.$ZodIssue): InvalidField[] {
  const path = issue.path.join('.')
  const reason = describeIssue(issue)
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map(key => ({ field: path ? `${path}.${key}` : key, reason, isImpossibleId: false }))
  const isImpossibleId = issue.code === 'custom' && issue.params?.absent === true
  return [{ field: path || 'body', reason, isImpossibleId }]
}

async function readBody(c: Context): Promise<unknown> {
  const type = getMediaType(c)
  if (type !== JSON_TYPE && type !== NO_TYPE) throw unsupportedType(type, JSON_TYPE)
  const text = await c.req.text()
  // An empty body is validated too, so that the error lists the required fields.
  if (text === '') return {}
  if (type !== JSON_TYPE) throw unsupportedType(type, JSON_TYPE)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new EyrieError('syntax', `the body is not valid JSON: ${(cause as Error).message}`, { cause })
  }
  if (isDeeperThan(value, MAX_DEPTH))
    throw new EyrieError('syntax', `the body is nested deeper than ${MAX_DEPTH} levels`)
  return value
}

const FORM = 'multipart/form-data'
const JSON_TYPE = 'application/json'
const NO_TYPE = 'of unknown type'

const getMediaType = (c: Context) =>
  c.req.header('Content-Type')?.split(';')[0]?.trim().toLowerCase() ?? NO_TYPE

const unsupportedType = (type: string, accepted: string) =>
  new EyrieError('type', `the body is ${type}: send Content-Type: ${accepted}`)

function omitFields(body: unknown, fields: readonly string[] = []): unknown {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return body
  return Object.fromEntries(Object.entries(body).filter(([key]) => !fields.includes(key)))
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (value === null || typeof value !== 'object') return false
  return levels === 0 || Object.values(value).some(part => isDeeperThan(part, levels - 1))
}

function findUnstorablePaths(value: unknown, path: string): string[] {
  if (typeof value === 'string') return isStorable(value) ? [] : [path || 'body']
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([key, part]) =>
    isStorable(key) ? findUnstorablePaths(part, path ? `${path}.${key}` : key) : [path || 'body'],
  )
}
