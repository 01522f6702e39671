import { EyrieError } from '@eyrie/contract'
import { parseAs, syntaxError, toQueryFields } from '@eyrie/contract/parse'
import type { Route } from '@eyrie/contract/routes-v3'
import { getRequestClient } from '@eyrie/kit/client/request-client'
import { createMediaTypeError, getMediaType, parseJson } from '@eyrie/kit/request-body'
import type { Context } from 'hono'
import type { z } from 'zod'
import type { Input } from './operation.ts'

const JSON_TYPE = 'application/json'
const MERGE_PATCH_TYPE = 'application/merge-patch+json'
/** Content types that clients send for binary files of unknown type. */
const BINARY_TYPES = ['application/octet-stream', 'application/x-gzip']

/**
 * Reads and validates the parts of a request that its route describes. Throws `EyrieError` (`id`,
 * `syntax` or `type`).
 */
export async function readInput(c: Context, route: Route): Promise<Input<Route>> {
  return {
    params: route.params && readParams(c, route.params),
    query: route.query && readQuery(c, route.query),
    body: route.body && parseAs(route.body, await readBody(c, route)),
    ifMatch: c.req.header('If-Match'),
    client: getRequestClient(c).address,
  }
}

/**
 * Reads the query of a request. Throws `EyrieError` (`syntax`) with the name of the
 * invalid query parameter.
 */
export function readQuery<Schema extends z.ZodType>(c: Context, schema: Schema): z.output<Schema> {
  return parseAs(schema, toQueryFields(c.req.queries()), '?')
}

/** Reads the path parameters of a request. Throws `EyrieError` (`id`) if one is invalid. */
export function readParams<Schema extends z.ZodType>(c: Context, schema: Schema): z.output<Schema> {
  const parsed = schema.safeParse(c.req.param())
  if (parsed.success) return parsed.data

  const [parameter] = parsed.error.issues[0]!.path
  const problem =
    parameter === 'id'
      ? 'ids are integers from 0 to 2147483647'
      : `there is no such ${String(parameter)}`
  throw new EyrieError('id', `${c.req.path}: ${problem}`)
}

/**
 * Reads the body as JSON, or as bytes if the route has another content type. Throws
 * `EyrieError`: `type` or `syntax`.
 */
async function readBody(c: Context, { method, contentType }: Route): Promise<unknown> {
  const type = getMediaType(c)
  const acceptedTypes = contentType ? [contentType, ...BINARY_TYPES] : [JSON_TYPE]
  if (method === 'patch') acceptedTypes.push(MERGE_PATCH_TYPE)
  if (type === undefined || !acceptedTypes.includes(type)) {
    throw createMediaTypeError(type, [contentType ?? JSON_TYPE])
  }
  return contentType ? new Uint8Array(await c.req.arrayBuffer()) : parseJson(await readText(c))
}

/** Rejects malformed UTF-8; otherwise replacement characters would be stored without notice. */
const utf8 = new TextDecoder('utf-8', { fatal: true })

async function readText(c: Context): Promise<string> {
  const encoding = c.req.header('Content-Encoding') ?? 'identity'
  if (encoding !== 'identity') {
    throw new EyrieError(
      'type',
      `the Content-Encoding is ${encoding}: send the body without Content-Encoding`,
    )
  }
  const bytes = await c.req.arrayBuffer()
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw syntaxError('', 'the body is not valid UTF-8: encode the JSON as UTF-8', { cause })
  }
}
