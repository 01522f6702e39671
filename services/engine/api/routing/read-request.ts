import { EyrieError } from '@eyrie/contract'
import { parseAs, syntaxError, toQueryFields } from '@eyrie/contract/parse'
import type { Route } from '@eyrie/contract/routes-v3'
import type { Context } from 'hono'
import type { z } from 'zod'
import type { Input } from './operation.ts'

/** Deeper JSON has no meaning here and would only exhaust the stack. */
const MAX_DEPTH = 64

/** The parts of a request that its route describes. Throws EyrieError `id`, `syntax` or `type`. */
export async function readInput(c: Context, route: Route): Promise<Input<Route>> {
  return {
    params: route.params && readParams(c, route.params),
    query: route.query && readQuery(c, route.query),
    body: route.body && parseAs(route.body, await readBody(c, route)),
    ifMatch: c.req.header('If-Match'),
  }
}

/** Throws EyrieError `syntax` naming the query parameter. */
export function readQuery<Schema extends z.ZodType>(c: Context, schema: Schema): z.output<Schema> {
  return parseAs(schema, toQueryFields(c.req.queries()), '?')
}

/** Whether a filter lets a part through; none lets everything through. */
export function asks<Part extends string>(filter: Part[] | undefined, part: Part): boolean {
  return !filter || filter.includes(part)
}

/** Throws EyrieError `id` where the path can name nothing. */
export function readParams<Schema extends z.ZodType>(c: Context, schema: Schema): z.output<Schema> {
  const parsed = schema.safeParse(c.req.param())
  if (parsed.success) return parsed.data
  const [part] = parsed.error.issues[0]!.path
  const rule = part === 'id' ? 'ids are integers from 0 to 2147483647' : `there is no such ${String(part)}`
  throw new EyrieError('id', `${c.req.path}: ${rule}`)
}

async function readBody(c: Context, { method, contentType }: Route): Promise<unknown> {
  const type = c.req.header('Content-Type')?.split(';')[0]?.trim().toLowerCase() ?? 'of no type'
  const wanted = contentType ?? 'application/json'
  const takes = [wanted, ...(contentType ? octets : []), ...(method === 'patch' ? mergePatch : [])]
  if (!takes.includes(type)) throw new EyrieError('type', `the body is ${type}: send Content-Type: ${wanted}`)
  return contentType ? new Uint8Array(await c.req.arrayBuffer()) : readJson(c)
}

const mergePatch = ['application/merge-patch+json']
/** What clients call bytes that they know nothing of. */
const octets = ['application/octet-stream', 'application/x-gzip']

async function readJson(c: Context): Promise<unknown> {
  const text = await readText(c)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw syntaxError('', `the body is no JSON: ${(cause as Error).message}`, { cause })
  }
  if (isDeeperThan(value, MAX_DEPTH))
    throw syntaxError('', `the body is nested deeper than ${MAX_DEPTH} levels`)
  return value
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** What is no text would otherwise be stored with other characters than were meant. */
async function readText(c: Context): Promise<string> {
  const coding = c.req.header('Content-Encoding') ?? 'identity'
  if (coding !== 'identity')
    throw new EyrieError(
      'type',
      `the body is encoded by ${coding}: send it as it is, without Content-Encoding`,
    )
  const bytes = await c.req.arrayBuffer()
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw syntaxError('', 'the body is no UTF-8: encode the JSON in it', { cause })
  }
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (value === null || typeof value !== 'object') return false
  return levels === 0 || Object.values(value).some(part => isDeeperThan(part, levels - 1))
}
