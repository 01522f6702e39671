import { eq } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { role, user } from '../db/schema/index.ts'

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
