import type { ConnectionTarget } from '../db/connection.ts'
import { createDatabase } from '../db/database.ts'
import { maintainPartitions } from './partitions.ts'

/** Process that maintains the partitions at a time. */
const [target, nowMs] = process.argv.slice(2) as [string, string]
const database = await createDatabase(JSON.parse(target) as ConnectionTarget)
await maintainPartitions(database, {
  nowMs: Number(nowMs),
  oldestMs: 0,
  signal: new AbortController().signal,
})
await database.close()
