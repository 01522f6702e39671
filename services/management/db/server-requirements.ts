import type { ISql } from 'postgres'

/**
 * Properties of a database server, and of the current user on it, that decide
 * whether Eyrie can use it.
 */
export interface ServerFacts {
  /** `server_version_num` of Postgres: 150004 is 15.4. */
  version: number
  encoding: string
  database: string
  user: string
  /** Whether the user may create schemas in the database, and tables in the schema `public`. */
  canCreate: boolean
  isReadOnly: boolean
}

const MIN_MAJOR_VERSION = 15

/**
 * Returns why a database cannot be used and what to do, or undefined if the database can be used.
 */
export function findUnmetRequirement(facts: ServerFacts): string | undefined {
  const database = quoteIdentifier(facts.database)
  const user = quoteIdentifier(facts.user)
  const majorVersion = Math.floor(facts.version / 10_000)
  if (majorVersion < MIN_MAJOR_VERSION) {
    return `the server is Postgres ${majorVersion}: version ${MIN_MAJOR_VERSION} or newer is required`
  }
  if (facts.encoding !== 'UTF8') {
    return (
      `the encoding of the database ${database} is ${facts.encoding}, which cannot represent all text: create one with ` +
      "create database … encoding 'UTF8' template template0"
    )
  }
  if (facts.isReadOnly) {
    return `the database ${database} is read-only: set DATABASE_URL to the primary server, not to a standby`
  }
  if (!facts.canCreate) {
    return (
      `the user ${user} may not create tables in the database ${database}: run as a superuser in this database: ` +
      `alter database ${database} owner to ${user}; grant usage, create on schema public to ${user}`
    )
  }
  return undefined
}

/** Throws an error with a remedy if the current user cannot use the database. */
export async function assertUsable(sql: ISql): Promise<void> {
  const [facts] = await sql<ServerFacts[]>`
    select
      current_setting('server_version_num')::int as version,
      current_setting('server_encoding') as encoding,
      current_database() as database,
      current_user as user,
      current_setting('transaction_read_only')::bool as "isReadOnly",
      has_database_privilege(current_database(), 'create')
        and has_schema_privilege('public', 'create')
        and has_schema_privilege('public', 'usage') as "canCreate"`
  const problem = facts && findUnmetRequirement(facts)
  if (problem) throw new Error(problem)
}

/** Quotes a name for use in an SQL statement. */
export const quoteIdentifier = (name: string) => `"${name.replaceAll('"', '""')}"`
