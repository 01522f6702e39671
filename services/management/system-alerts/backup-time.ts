import { eq } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { NEWEST_BACKUP, setting } from '../db/schema/index.ts'

/** Returns when the newest successful backup was finished; undefined before the first. */
export async function readLastBackup(tx: Transaction): Promise<Date | undefined> {
  const [row] = await tx.select().from(setting).where(eq(setting.name, NEWEST_BACKUP))
  const time = (row?.value as { finished_at?: string } | undefined)?.finished_at
  return time === undefined ? undefined : new Date(time)
}
