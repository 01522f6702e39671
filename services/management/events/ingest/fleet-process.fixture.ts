import { createLog } from '@eyrie/kit'
import { alertSubscriber } from '../../alerts/evaluate-messages.ts'
import type { ConnectionTarget } from '../../db/connection.ts'
import { createDatabase } from '../../db/database.ts'
import { createFleet } from '../../fleet/fleet.ts'
import { readSecrets } from '../../secrets/secrets.ts'
import { createIngest } from './ingest.ts'

/** Runs the fleet of management until the process is killed. */
const [target, data] = process.argv.slice(2) as [string, string]
const log = createLog('management', 'error')
const database = await createDatabase(JSON.parse(target) as ConnectionTarget)
const fleet = createFleet({
  secrets: readSecrets(data),
  createIngest: connected => createIngest({ database: connected, subscribers: [alertSubscriber], log }),
  log,
})
fleet.start(database)
