import type { ISql } from 'postgres'

/** What a server is, and whether who connects may make tables on it. */
export interface ServerFacts {
  /** As Postgres counts: 150004 is 15.4. */
  version: number
  encoding: string
  database: string
  user: string
  makesTables: boolean
  readOnly: boolean
}

const OLDEST = 15

/** What keeps a database from being used, and what to do about it; undefined where nothing does. */
export function unmetRequirement(facts: ServerFacts): string | undefined {
  const database = quoted(facts.database)
  const major = Math.floor(facts.version / 10_000)
  if (major < OLDEST) return `it runs on Postgres ${major}: ${OLDEST} or newer is wanted`
  if (facts.encoding !== 'UTF8')
    return (
      `the encoding of the database ${database} is ${facts.encoding}, which cannot hold every name: make one with ` +
      "create database … encoding 'UTF8' template template0"
    )
  if (facts.readOnly)
    return `the database ${database} is read-only here: name the primary server in DATABASE_URL, not its standby`
  if (!facts.makesTables)
    return (
      `the user ${quoted(facts.user)} may not make tables in the database ${database}: as a superuser, in this database: ` +
      `alter database ${database} owner to ${quoted(facts.user)}; grant usage, create on schema public to ${quoted(facts.user)}`
    )
  return undefined
}

/** Throws an Error that says what to do where a database cannot be used. Its tables are made as who asks here. */
export async function requireUsable(sql: ISql): Promise<void> {
  const [facts] = await sql<ServerFacts[]>`
    select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding,
      current_database() as database, current_user as user, current_setting('transaction_read_only')::bool as "readOnly",
      has_schema_privilege('public', 'create') and has_schema_privilege('public', 'usage') as "makesTables"`
  const unmet = facts && unmetRequirement(facts)
  if (unmet) throw new Error(unmet)
}

/** A name as SQL has it. */
export const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
