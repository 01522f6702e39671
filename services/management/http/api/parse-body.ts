import { parseAs } from '@eyrie/contract/parse'
import type { Context } from 'hono'
import type { z } from 'zod'

/**
 * Returns the JSON body of a request to an internal route, which is not a part of the management API. Throws `EyrieError` (`syntax`)
 * if the body is not JSON or does not match the schema.
 */
export async function parseBody<Schema extends z.ZodType>(
  c: Context,
  schema: Schema,
): Promise<z.output<Schema>> {
  // No schema admits undefined.
  const body: unknown = await c.req.json().catch(() => undefined)
  return parseAs(schema, body)
}
