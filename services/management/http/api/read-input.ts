import { EyrieError } from '@eyrie/contract'
import type { ManagementRoute } from '@eyrie/contract/management/index'
import { describeIssue, toQueryFields } from '@eyrie/contract/parse'
import type { Context } from 'hono'
import type { z } from 'zod'
import { isStorable } from '../../db/schema/columns.ts'
import { fieldError, fieldErrors } from '../../errors/field-errors.ts'

/** Deeper JSON has no meaning here and would only exhaust the stack. */
const MAX_DEPTH = 64

interface Fault {
  field: string
  reason: string
  /** It is an id that no record can have. */
  absent: boolean
}

/** The fields of a request. Throws EyrieError `syntax` naming every field at fault, `id` where ids are all that is. */
export async function readInput(c: Context, route: ManagementRoute): Promise<unknown> {
  // What a POST reads, `Location` names with its parameter: the same is then asked by a GET.
  if (route.body && c.req.method !== 'POST') return check(route.body, toQueryFields(c.req.queries()))
  if (route.body) return check(route.body, without(await readBody(c), route.ignoredFields))
  if (route.query) return check(route.query, toQueryFields(c.req.queries()))
  return undefined
}

/**
 * The file that a request brings: in the route's field of a multipart form, or as the body itself. Where it may be the body,
 * there is no doubt what is meant: any field of a form may hold it, and a body of no type is it.
 */
export async function readFile(
  c: Context,
  { fileField: field = '', fileTypes }: ManagementRoute,
): Promise<File> {
  const type = typeOf(c)
  if (type === NO_TYPE || fileTypes?.includes(type)) {
    const content = new Uint8Array(await c.req.arrayBuffer())
    if (content.length === 0) throw noFile(field)
    if (fileTypes) return new File([content], field, { type })
  }
  if (type !== FORM) throw wrongType(type, [FORM, ...(fileTypes ?? [])].join(' or '))
  const form = await c.req.formData().catch(cause => {
    if (cause instanceof EyrieError) throw cause
    throw fieldError(field, `the body is no multipart form: ${(cause as Error).message}`)
  })
  const candidates = [form.get(field), ...(fileTypes ? form.values() : [])]
  const file = candidates.find(value => value instanceof File)
  if (file) return file
  const content = form.get(field)
  // A form may bring the content of a file without a name for it.
  if (typeof content === 'string') return new File([content], field)
  throw noFile(field)
}

const noFile = (field: string) => fieldError(field, 'send the file in this multipart field')

function check<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const unstorable = unstorablePaths(value, '')
  if (unstorable.length > 0)
    throw fieldErrors(
      unstorable.map(field => ({
        field,
        reason: 'may not hold the character NUL, or half of a surrogate pair',
      })),
    )
  const parsed = schema.safeParse(value, { reportInput: true })
  if (parsed.success) return parsed.data
  const byField = Map.groupBy(parsed.error.issues.flatMap(faultsOf), ({ field }) => field)
  // Where one field breaks several rules, the first says enough.
  const found = [...byField.values()].map(([first]) => first!)
  throw fieldErrors(
    found.map(({ field, reason }) => ({ field, reason })),
    { code: found.every(({ absent }) => absent) ? 'id' : 'syntax' },
  )
}

/** One fault for each field; a field that is not known is a fault of its own. */
function faultsOf(issue: z.core.$ZodIssue): Fault[] {
  const at = issue.path.join('.')
  const reason = describeIssue(issue)
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map(key => ({ field: at ? `${at}.${key}` : key, reason, absent: false }))
  const absent = issue.code === 'custom' && issue.params?.absent === true
  return [{ field: at || 'body', reason, absent }]
}

async function readBody(c: Context): Promise<unknown> {
  const type = typeOf(c)
  if (type !== JSON_TYPE && type !== NO_TYPE) throw wrongType(type, JSON_TYPE)
  const text = await c.req.text()
  // Whoever sends nothing is told what is missing.
  if (text === '') return {}
  if (type !== JSON_TYPE) throw wrongType(type, JSON_TYPE)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new EyrieError('syntax', `the body is no JSON: ${(cause as Error).message}`, { cause })
  }
  if (isDeeperThan(value, MAX_DEPTH))
    throw new EyrieError('syntax', `the body is nested deeper than ${MAX_DEPTH} levels`)
  return value
}

const FORM = 'multipart/form-data'
const JSON_TYPE = 'application/json'
const NO_TYPE = 'of no type'

const typeOf = (c: Context) => c.req.header('Content-Type')?.split(';')[0]?.trim().toLowerCase() ?? NO_TYPE

const wrongType = (type: string, wanted: string) =>
  new EyrieError('type', `the body is ${type}: send Content-Type: ${wanted}`)

function without(body: unknown, fields: readonly string[] = []): unknown {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return body
  return Object.fromEntries(Object.entries(body).filter(([key]) => !fields.includes(key)))
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (value === null || typeof value !== 'object') return false
  return levels === 0 || Object.values(value).some(part => isDeeperThan(part, levels - 1))
}

function unstorablePaths(value: unknown, at: string): string[] {
  if (typeof value === 'string') return isStorable(value) ? [] : [at || 'body']
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([key, part]) =>
    isStorable(key) ? unstorablePaths(part, at ? `${at}.${key}` : key) : [at || 'body'],
  )
}
