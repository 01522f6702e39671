import { EyrieError } from '@eyrie/contract'
import { parseAs, syntaxError, toQueryFields } from '@eyrie/contract/parse'
import type { Route } from '@eyrie/contract/routes-v3'
import type { Context } from 'hono'
import type { z } from 'zod'
import type { Input } from './operation.ts'

/** No valid body is nested deeper; recursion over a deeper one could exhaust the stack. */
const MAX_DEPTH = 64

const mergePatchTypes = ['application/merge-patch+json']
/** Content types that clients send for binary files of unknown type. */
const binaryTypes = ['application/octet-stream', 'application/x-gzip']

/** The parts of a request that its route describes. Throws `EyrieError` (`id`, `syntax` or `type`). */
export async function readInput(c: Context, route: Route): Promise<Input<Route>> {
  return {
    params: route.params && readParams(c, route.params),
    query: route.query && readQuery(c, route.query),
    body: route.body && parseAs(route.body, await readBody(c, route)),
    ifMatch: c.req.header('If-Match'),
  }
}

/** Throws `EyrieError` (`syntax`) with the name of the invalid query parameter. */
export function readQuery<Schema extends z.ZodType>(c: Context, schema: Schema): z.output<Schema> {
  return parseAs(schema, toQueryFields(c.req.queries()), '?')
}

/** Whether a filter selects a part of the response. Without a filter, all parts are selected. */
export function includesPart<Part extends string>(filter: Part[] | undefined, part: Part): boolean {
  return !filter || filter.includes(part)
}

/** Throws `EyrieError` (`id`) if a path parameter is invalid. */
export function readParams<Schema extends z.ZodType>(c: Context, schema: Schema): z.output<Schema> {
  const parsed = schema.safeParse(c.req.param())
  if (parsed.success) return parsed.data
  const [part] = parsed.error.issues[0]!.path
  const rule = part === 'id' ? 'ids are integers from 0 to 2147483647' : `there is no such ${String(part)}`
  throw new EyrieError('id', `${c.req.path}: ${rule}`)
}

async function readBody(c: Context, { method, contentType }: Route): Promise<unknown> {
  const type = c.req.header('Content-Type')?.split(';')[0]?.trim().toLowerCase()
  const expected = contentType ?? 'application/json'
  const accepted = [
    expected,
    ...(contentType ? binaryTypes : []),
    ...(method === 'patch' ? mergePatchTypes : []),
  ]
  if (type === undefined || !accepted.includes(type))
    throw new EyrieError('type', `the Content-Type is ${type ?? 'missing'}: send Content-Type: ${expected}`)
  return contentType ? new Uint8Array(await c.req.arrayBuffer()) : readJson(c)
}

async function readJson(c: Context): Promise<unknown> {
  const text = await readText(c)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw syntaxError('', `the body is not valid JSON: ${(cause as Error).message}`, { cause })
  }
  if (isDeeperThan(value, MAX_DEPTH))
    throw syntaxError('', `the body is nested deeper than ${MAX_DEPTH} levels`)
  return value
}

/** Rejects malformed UTF-8; otherwise replacement characters would be stored without notice. */
const utf8 = new TextDecoder('utf-8', { fatal: true })

async function readText(c: Context): Promise<string> {
  const encoding = c.req.header('Content-Encoding') ?? 'identity'
  if (encoding !== 'identity')
    throw new EyrieError(
      'type',
      `the Content-Encoding is ${encoding}: send the body without Content-Encoding`,
    )
  const bytes = await c.req.arrayBuffer()
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw syntaxError('', 'the body is not valid UTF-8: encode the JSON as UTF-8', { cause })
  }
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (value === null || typeof value !== 'object') return false
  return levels === 0 || Object.values(value).some(part => isDeeperThan(part, levels - 1))
}
