import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Log } from '@eyrie/kit'
import { eq, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../db/database.ts'
import { role, user } from '../db/schema/index.ts'
import { secretFile } from '../secrets/secret-file.ts'
import type { Passwords } from './passwords.ts'

const OPERATION = 'first start'
const STANDARD_EMAIL = 'admin@localhost'

export interface FirstAdministratorOptions {
  /** Folder of the appliance's data. */
  data: string
  /** What the owner has set; the rest is made up. */
  given: { email: string | undefined; password: string | undefined }
  passwords: Passwords
  log: Log
}

const passwordFile = (data: string) => resolve(data, 'secrets/admin')

/** Removes the password that the first start made up, where it was this user's and another is set now. */
export function forgetFirstPassword(data: string, email: string): void {
  const file = passwordFile(data)
  const kept = existsSync(file) ? readFileSync(file, 'utf8').split('\n')[0] : undefined
  if (kept?.toLowerCase() === email.trim().toLowerCase()) rmSync(file)
}

/** 120 bits. */
export const newPassword = () => randomBytes(15).toString('base64url')

/**
 * Makes a superadmin where there is none. A password that was made up is said in the log, once, and kept in
 * `secrets/admin`: address and password, a line each.
 */
export async function provideFirstAdministrator(
  database: Database,
  { data, given, passwords, log }: FirstAdministratorOptions,
): Promise<void> {
  if (await database.system(OPERATION, hasSuperadmin)) return
  const { email = STANDARD_EMAIL } = given
  const file = passwordFile(data)
  // Before the user, so that no crash makes one whose password nobody knows.
  const kept =
    given.password === undefined ? secretFile(file, () => `${email}\n${newPassword()}\n`) : undefined
  const password = given.password ?? kept!.trim().split('\n').at(-1)!
  const password_hash = await passwords.hash(password)
  const isMade = await database.system(OPERATION, async tx => {
    // Two managements that start at the same moment make one.
    await tx.execute(sql`select pg_advisory_xact_lock(hashtext('eyrie superadmin'))`)
    if (await hasSuperadmin(tx)) return false
    const [superadmin] = await tx.select().from(role).where(eq(role.role_key, 'superadmin'))
    const names = { first_name: 'Eyrie', last_name: 'Administrator', user_name: 'Administrator' }
    await tx
      .insert(user)
      .values({ email, ...names, role_id: superadmin!.role_id, is_verified: true, password_hash })
    return true
  })
  if (!isMade) return
  if (kept)
    log.warn(`the first administrator is ${email} with the password ${password} (kept in ${file}): change it`)
  else log.info(`the first administrator is ${email}`)
}

const hasSuperadmin = async (tx: Transaction) => (await superadmins(tx, 1)).length > 0

/** E-mail addresses of superadmins, so many at most. */
export async function superadmins(tx: Transaction, most: number): Promise<string[]> {
  const found = await tx
    .select({ email: user.email })
    .from(user)
    .innerJoin(role, eq(role.role_id, user.role_id))
    .where(eq(role.role_key, 'superadmin'))
    .orderBy(user.email)
    .limit(most)
  return found.map(({ email }) => email)
}
