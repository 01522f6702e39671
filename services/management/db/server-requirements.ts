import type { ISql } from 'postgres'

export interface ServerFacts {
  /** In Postgres's numbering: 150004 is 15.4. */
  version: number
  encoding: string
  database: string
  user: string
  /** The user may create schemas in the database, and tables in the schema `public`. */
  canCreate: boolean
  readOnly: boolean
}

const MIN_MAJOR_VERSION = 15

/** Returns why a database cannot be used and what to do about it; undefined if it can be used. */
export function findUnmetRequirement(facts: ServerFacts): string | undefined {
  const database = quoteIdentifier(facts.database)
  const user = quoteIdentifier(facts.user)
  const major = Math.floor(facts.version / 10_000)
  if (major < MIN_MAJOR_VERSION)
    return `the server is Postgres ${major}: version ${MIN_MAJOR_VERSION} or newer is required`
  if (facts.encoding !== 'UTF8')
    return (
      `the encoding of the database ${database} is ${facts.encoding}, which cannot represent all text: create one with ` +
      "create database … encoding 'UTF8' template template0"
    )
  if (facts.readOnly)
    return `the database ${database} is read-only: name the primary server in DATABASE_URL, not its standby`
  if (!facts.canCreate)
    return (
      `the user ${user} may not create tables in the database ${database}: as a superuser, in this database: ` +
      `alter database ${database} owner to ${user}; grant usage, create on schema public to ${user}`
    )
  return undefined
}

/** Throws an error that says what to do if the database cannot be used by the current role. */
export async function assertUsable(sql: ISql): Promise<void> {
  const [facts] = await sql<ServerFacts[]>`
    select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding,
      current_database() as database, current_user as user, current_setting('transaction_read_only')::bool as "readOnly",
      has_database_privilege(current_database(), 'create') and has_schema_privilege('public', 'create')
        and has_schema_privilege('public', 'usage') as "canCreate"`
  const unmet = facts && findUnmetRequirement(facts)
  if (unmet) throw new Error(unmet)
}

export const quoteIdentifier = (name: string) => `"${name.replaceAll('"', '""')}"`
