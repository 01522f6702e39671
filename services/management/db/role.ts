import type { ISql, Sql } from 'postgres'
import { type ConnectionTarget, connect } from './connection.ts'
import { findPostgresError } from './database-errors.ts'
import { quoteIdentifier } from './server-requirements.ts'
import { withTransaction } from './transaction.ts'

/** The role that management assumes if the connecting user bypasses row-level security. */
export const unprivilegedRole = 'eyrie_management'

interface CurrentUser {
  name: string
  database: string
}

/** Returns the role to assume after connecting; undefined if row-level security applies to the connecting user. */
export async function chooseRole(target: ConnectionTarget): Promise<string | undefined> {
  const sql = connect(target)
  try {
    const [user] = await sql<(CurrentUser & { bypassesRowSecurity: boolean })[]>`
      select rolsuper or rolbypassrls as "bypassesRowSecurity", rolname as name, current_database() as database
      from pg_roles where rolname = current_user`
    if (!user?.bypassesRowSecurity) return undefined
    await withTransaction(sql, () => provideRole(sql, user))
    return unprivilegedRole
  } finally {
    await sql.end()
  }
}

async function provideRole(sql: Sql, user: CurrentUser): Promise<void> {
  // Two instances of management may start at the same moment.
  await sql`select pg_advisory_xact_lock(hashtext(${unprivilegedRole}))`
  const statements = await missingGrants(sql, user)
  if (statements.length === 0) return
  await sql`savepoint granting`
  const denied = await sql
    .unsafe(statements.join('; '))
    .simple()
    .then(
      () => undefined,
      async error => {
        if (findPostgresError(error)?.code !== '42501') throw error
        await sql`rollback to savepoint granting`
        return error as Error
      },
    )
  // Without the right to grant, GRANT raises no error but a warning.
  const missing = await missingGrants(sql, user)
  if (missing.length > 0) throw new Error(explainMissingGrants(user, missing), { cause: denied })
}

/**
 * Returns the statements that the role still needs. Grants that exist are not repeated: that would need privileges which
 * the user may lack.
 */
async function missingGrants(sql: ISql, { name, database }: CurrentUser): Promise<string[]> {
  const [role] = await sql<{ member: boolean; database: boolean; schema: boolean }[]>`
    select pg_has_role(current_user, oid,
        case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end) as member,
      has_database_privilege(oid, current_database(), 'create') as database,
      has_schema_privilege(oid, 'public', 'create') and has_schema_privilege(oid, 'public', 'usage') as schema
    from pg_roles where rolname = ${unprivilegedRole}`
  return [
    !role && `create role ${unprivilegedRole} nologin`,
    !role?.member && `grant ${unprivilegedRole} to ${quoteIdentifier(name)}`,
    !role?.database &&
      `grant create, connect, temporary on database ${quoteIdentifier(database)} to ${unprivilegedRole}`,
    !role?.schema && `grant usage, create on schema public to ${unprivilegedRole}`,
  ].filter(statement => statement !== false)
}

const explainMissingGrants = ({ name }: CurrentUser, missing: string[]) =>
  `the user ${quoteIdentifier(name)} bypasses row-level security, which enforces the rights of users, and may not create the ` +
  `role ${unprivilegedRole}, to which row-level security would apply: name an unprivileged user that owns the database in ` +
  `DATABASE_URL, or as a superuser, in this database: ${missing.join('; ')}`
