import { z } from 'zod'

/** A table in a Postgres database. */
export interface TableAddress {
  host: string
  port: number
  database: string
  username: string
  password: string | undefined
  table: string
  ssl: 'disable' | 'prefer' | 'require' | 'verify-full'
}

const query = z.strictObject({
  /** Restricted to characters that need no quoting in SQL. */
  table: z
    .string()
    .regex(/^[a-z_][a-z0-9_]{0,62}$/, 'a table is named by small letters, digits and underscores')
    .default('embeddings'),
  sslmode: z.enum(['disable', 'prefer', 'require', 'verify-full']).default('prefer'),
})

export const isTableAddress = (address: string) => /^postgres(ql)?:/.test(address)

/**
 * Parses `postgres://user:password@host:5432/database?table=embeddings&sslmode=require`. Throws an Error that describes the
 * problem without revealing the password.
 */
export function parseTableAddress(address: string): TableAddress {
  const url = URL.parse(address)
  const database = decodePart(url?.pathname.slice(1))
  const username = decodePart(url?.username)
  if (!url || !isTableAddress(address) || !url.hostname || !database || database.includes('/') || !username)
    throw new Error('it must be such as postgres://user:password@host:5432/database')
  const parsed = query.safeParse(Object.fromEntries(url.searchParams))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new Error(
      `its query is wrong${issue?.path.map(key => ` at ${String(key)}`).join('')}: ${issue?.message}`,
    )
  }
  const { table, sslmode: ssl } = parsed.data
  const password = decodePart(url.password) || undefined
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return { host, port: Number(url.port || 5432), database, username, password, table, ssl }
}

/** Undefined if `part` is not correctly percent-encoded. */
function decodePart(part: string | undefined): string | undefined {
  try {
    return part === undefined ? undefined : decodeURIComponent(part)
  } catch {
    return undefined
  }
}
