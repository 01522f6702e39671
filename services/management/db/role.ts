import type { ISql, Sql } from 'postgres'
import { connect } from './connection.ts'
import { databaseError } from './failure.ts'
import { quoted } from './requirements.ts'
import type { ConnectionTarget } from './target.ts'
import { inTransaction } from './transaction.ts'

/** Whom everything is done as where who connects is above the row-level security. */
export const ordinaryRole = 'eyrie_management'

interface Connected {
  name: string
  database: string
}

/** The role to take after connecting; none where who connects is an ordinary user. */
export async function roleFor(target: ConnectionTarget): Promise<string | undefined> {
  const sql = connect(target)
  try {
    const [user] = await sql<(Connected & { above: boolean })[]>`
      select rolsuper or rolbypassrls as above, rolname as name, current_database() as database
      from pg_roles where rolname = current_user`
    if (!user?.above) return undefined
    await inTransaction(sql, () => provideRole(sql, user))
    return ordinaryRole
  } finally {
    await sql.end()
  }
}

async function provideRole(sql: Sql, user: Connected): Promise<void> {
  // Two managements that start at the same moment make it once.
  await sql`select pg_advisory_xact_lock(hashtext(${ordinaryRole}))`
  const missing = await lacking(sql, user)
  if (missing.length === 0) return
  await sql`savepoint granting`
  const reason = await sql
    .unsafe(missing.join('; '))
    .simple()
    .then(
      () => undefined,
      async error => {
        if (databaseError(error)?.code !== '42501') throw error
        await sql`rollback to savepoint granting`
        return error as Error
      },
    )
  // Who may grant nothing is warned, and not refused.
  const left = await lacking(sql, user)
  if (left.length > 0) throw new Error(remedyOf(user, left), { cause: reason })
}

/** The statements after which the role is what it has to be. Granting once more would want rights that need not be there. */
async function lacking(sql: ISql, { name, database }: Connected): Promise<string[]> {
  const [role] = await sql<{ member: boolean; database: boolean; schema: boolean }[]>`
    select pg_has_role(current_user, oid,
        case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end) as member,
      has_database_privilege(oid, current_database(), 'create') as database,
      has_schema_privilege(oid, 'public', 'create') and has_schema_privilege(oid, 'public', 'usage') as schema
    from pg_roles where rolname = ${ordinaryRole}`
  return [
    !role && `create role ${ordinaryRole} nologin`,
    !role?.member && `grant ${ordinaryRole} to ${quoted(name)}`,
    !role?.database && `grant create, connect, temporary on database ${quoted(database)} to ${ordinaryRole}`,
    !role?.schema && `grant usage, create on schema public to ${ordinaryRole}`,
  ].filter(statement => statement !== false)
}

const remedyOf = ({ name }: Connected, missing: string[]) =>
  `the user ${quoted(name)} is above row-level security, by which rights are kept, and may not provide the role ` +
  `${ordinaryRole}, to which they would apply: name an ordinary user that owns the database in DATABASE_URL, or as a ` +
  `superuser, in this database: ${missing.join('; ')}`
