import type { ISql, Sql } from 'postgres'
import { type ConnectionTarget, connect } from './connection.ts'
import { findPostgresError } from './database-errors.ts'
import { quoteIdentifier } from './server-requirements.ts'
import { withTransaction } from './transaction.ts'

/**
 * The role that replaces a privileged user of an external database. Row-level security enforces
 * the rights of users, but Postgres ignores its policies for superusers and for users with
 * BYPASSRLS. The management service therefore creates this role and switches to it if the user in
 * DATABASE_URL is privileged.
 */
export const UNPRIVILEGED_ROLE = 'eyrie_management'

/** SQLSTATE `insufficient_privilege`. */
const INSUFFICIENT_PRIVILEGE = '42501'

interface DatabaseUser {
  name: string
  /** The database that the user is connected to. */
  database: string
}

/**
 * Returns the role to switch to after connecting, and creates it if necessary. Returns undefined if
 * row-level security applies to the connecting user already.
 */
export async function prepareRole(target: ConnectionTarget): Promise<string | undefined> {
  const sql = connect(target)
  try {
    const [user] = await sql<(DatabaseUser & { bypassesRowSecurity: boolean })[]>`
      select
        rolsuper or rolbypassrls as "bypassesRowSecurity",
        rolname as name,
        current_database() as database
      from pg_roles
      where rolname = current_user`
    if (!user?.bypassesRowSecurity) return undefined
    await withTransaction(sql, () => ensureUnprivilegedRole(sql, user))
    return UNPRIVILEGED_ROLE
  } finally {
    await sql.end()
  }
}

/** Returns a client of one connection to which row-level security applies. */
export async function connectUnprivileged(target: ConnectionTarget): Promise<Sql> {
  const role = await prepareRole(target)
  return connect(target, role ? { role } : {})
}

/**
 * Creates the role with all necessary privileges. Throws an `Error` with the missing statements if
 * the user may not do that.
 */
async function ensureUnprivilegedRole(sql: Sql, user: DatabaseUser): Promise<void> {
  // Two instances of the management service may start at the same moment.
  await sql`select pg_advisory_xact_lock(hashtext(${UNPRIVILEGED_ROLE}))`
  const statements = await listSetupStatements(sql, user)
  if (statements.length === 0) return
  const denial = await runUnlessDenied(sql, statements)
  // A GRANT without the necessary privilege only causes a warning, so the result is checked.
  const remaining = await listSetupStatements(sql, user)
  if (remaining.length > 0) throw new Error(describeSetup(user, remaining), { cause: denial })
}

/** Runs all statements or none. Returns the error if the user lacks a privilege. */
async function runUnlessDenied(sql: Sql, statements: string[]): Promise<Error | undefined> {
  await sql`savepoint setup`
  try {
    await sql.unsafe(statements.join('; ')).simple()
    return undefined
  } catch (error) {
    if (findPostgresError(error)?.code !== INSUFFICIENT_PRIVILEGE) throw error
    await sql`rollback to savepoint setup`
    return error as Error
  }
}

/** Which grants of the role exist. */
interface RoleGrants {
  /** Whether the user may switch to the role. */
  isGranted: boolean
  canUseDatabase: boolean
  canUseSchema: boolean
}

/**
 * Returns the statements that are still necessary to set up the role. Existing grants are not
 * repeated, because the user may lack the privilege to grant them.
 */
async function listSetupStatements(sql: ISql, { name, database }: DatabaseUser): Promise<string[]> {
  const [role] = await sql<RoleGrants[]>`
    select
      pg_has_role(
        current_user,
        oid,
        case
          -- Since Postgres 16, a member needs the option SET to switch to the role.
          when current_setting('server_version_num')::int >= 160000 then 'set'
          else 'member'
        end
      ) as "isGranted",
      has_database_privilege(oid, current_database(), 'create') as "canUseDatabase",
      has_schema_privilege(oid, 'public', 'create')
        and has_schema_privilege(oid, 'public', 'usage') as "canUseSchema"
    from pg_roles
    where rolname = ${UNPRIVILEGED_ROLE}`
  const statements: string[] = []
  if (!role) statements.push(`create role ${UNPRIVILEGED_ROLE} nologin`)
  if (!role?.isGranted) statements.push(`grant ${UNPRIVILEGED_ROLE} to ${quoteIdentifier(name)}`)
  if (!role?.canUseDatabase) {
    statements.push(
      `grant create, connect, temporary on database ${quoteIdentifier(database)} to ${UNPRIVILEGED_ROLE}`,
    )
  }
  if (!role?.canUseSchema) {
    statements.push(`grant usage, create on schema public to ${UNPRIVILEGED_ROLE}`)
  }
  return statements
}

const describeSetup = ({ name }: DatabaseUser, statements: string[]) =>
  `the user ${quoteIdentifier(name)} bypasses row-level security and cannot set up the role ${UNPRIVILEGED_ROLE}: set ` +
  'DATABASE_URL to an unprivileged user that owns the database, or run as a superuser in this database: ' +
  statements.join('; ')
