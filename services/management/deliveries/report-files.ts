import { eq } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { report } from '../db/schema/index.ts'

/**
 * Returns the file of a scheduled report, or undefined if it is not stored. `reportId` is a UUID.
 */
export async function readReportFile(tx: Transaction, reportId: string) {
  const [file] = await tx.select().from(report).where(eq(report.report_id, reportId))
  return file
}
