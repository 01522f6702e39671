import { createLog } from '@eyrie/kit'
import { alertSubscriber } from '../../alerts/evaluate-messages.ts'
import { openDatabase } from '../../db/open.ts'
import type { ConnectionTarget } from '../../db/target.ts'
import { createFleet } from '../../fleet/fleet.ts'
import { loadSecrets } from '../../secrets/secrets.ts'
import { createIngest } from './ingest.ts'

/** The part of management that follows engines, until its process ends. */
const [target, data] = process.argv.slice(2) as [string, string]
const log = createLog('management', 'error')
const database = await openDatabase(JSON.parse(target) as ConnectionTarget)
const fleet = createFleet({
  secrets: loadSecrets(data),
  createIngest: database => createIngest({ database, subscribers: [alertSubscriber], log }),
  log,
})
fleet.start(database)
