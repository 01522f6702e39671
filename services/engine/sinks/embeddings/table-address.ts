import { z } from 'zod'

/**
 * The table in a Postgres database to which a sink writes embeddings, parsed from the
 * address of the sink.
 */
export interface TableAddress {
  host: string
  port: number
  database: string
  username: string
  password: string | undefined
  table: string
  ssl: 'disable' | 'prefer' | 'require' | 'verify-full'
}

const DEFAULT_PORT = 5432

const query = z.strictObject({
  /** Only names that need no quoting in SQL. */
  table: z
    .string()
    .regex(
      /^[a-z_][a-z0-9_]{0,62}$/,
      'use lowercase letters, digits and underscores, and no digit at the start',
    )
    .default('embeddings'),
  sslmode: z.enum(['disable', 'prefer', 'require', 'verify-full']).default('prefer'),
})

export const isTableAddress = (address: string) => /^postgres(ql)?:/.test(address)

/**
 * Parses `postgres://user:password@host:5432/database?table=embeddings&sslmode=require`. Throws an
 * Error that describes the problem without revealing the password.
 */
export function parseTableAddress(address: string): TableAddress {
  const url = URL.parse(address)
  const database = url && tryDecode(url.pathname.slice(1))
  const username = url && tryDecode(url.username)
  const hasValidDatabase = database && !database.includes('/')
  if (!isTableAddress(address) || !url?.hostname || !hasValidDatabase || !username) {
    throw new Error('the address must have the form postgres://user:password@host:5432/database')
  }

  return {
    // IPv6 addresses have brackets only in URLs.
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || DEFAULT_PORT),
    database,
    username,
    password: tryDecode(url.password) || undefined,
    ...parseQuery(url.searchParams),
  }
}

function parseQuery(params: URLSearchParams): Pick<TableAddress, 'table' | 'ssl'> {
  const parsed = query.safeParse(Object.fromEntries(params))
  if (parsed.success) {
    const { table, sslmode } = parsed.data
    return { table, ssl: sslmode }
  }
  const { path, message } = parsed.error.issues[0]!
  const place = path.map(key => ` at ${String(key)}`).join('')
  throw new Error(`the query of the address is invalid${place}: ${message}`)
}

/** Decodes percent-encoding; undefined if the encoding is invalid. */
function tryDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
